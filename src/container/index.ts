/** Users' containers in workers: what they must be able to do, how functions reach them, how large they are. */
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
