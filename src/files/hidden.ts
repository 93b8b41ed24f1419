/** Which names in a dataset's directory are not data. One rule for readers and writers. */

/** Hidden and private files (`_SUCCESS`, `_metadata`, `.part-0.crc`) are not data. */
export function isHidden(name: string): boolean {
  return name.startsWith(".") || name.startsWith("_");
}

/** `key=value`. */
export function isPartitionFolder(name: string): boolean {
  return name.indexOf("=") > 0;
}

/** A folder of a partition is never hidden: its key may begin with an underscore (`_id=7`). */
export function isHiddenFolder(name: string): boolean {
  return isHidden(name) && !isPartitionFolder(name);
}
