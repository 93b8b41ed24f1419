export type { Engine, EngineSettings, FinishedJob, ReceivedBlock, RunningJob } from "./engine.ts";
