/** Worker data: its methods, how functions reach it, how large it is. */

export { workerDataBytes } from "./measure.ts";
export {
  type EvictingWorkerData,
  isEvicting,
  isMapLike,
  type MapLike,
  mayBeWorkerData,
  missingMethods,
  setWorkerData,
  type WorkerDataFactory,
  type WorkerDataOption,
  type WorkerDataPlace,
  workerData,
} from "./worker-data.ts";
