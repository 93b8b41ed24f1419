export {
  type DatasetTree,
  firstData,
  hasDataAlready,
  refusedOverwrite,
  stagingName,
  surveyTree,
} from "./dataset-tree.ts";
export { isHidden, isHiddenFolder } from "./hidden.ts";
export { localPath, notLocal } from "./local-path.ts";
export { makeDirectory, whyNotMade } from "./make-directory.ts";
export { isOurs, NotPrivate, PrivateDirectory, using, whyTaken } from "./private-directory.ts";
export { readPrivateFile } from "./private-file.ts";
export { connectInside } from "./private-socket.ts";
export { whyProtected } from "./protected.ts";
export { asideName, isStagingName, markStaging, STAGING_MARK, unmarkStaging } from "./staging-mark.ts";
