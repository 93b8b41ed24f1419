/** Worker data: its methods, how functions reach it, how large it is. */
export {
  type ContainerFactory,
  type ContainerOption,
  type ContainerPlace,
  type EvictingContainer,
  isEvicting,
  isMapLike,
  type MapLike,
  mayBeContainer,
  missingMethods,
  setWorkerData,
  workerData,
} from "./container.ts";
export { containerBytes } from "./measure.ts";
