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
export { makeDirectory } from "./make-directory.ts";
export { type Surroundings, whyProtected } from "./protected.ts";
