/** The first page: where the memory is, what runs, the progress, and what happened. */
import { StreamPanel } from "../stream/index.tsx";
import { BytesStored } from "./bytes-stored.tsx";
import { Figures } from "./figures.tsx";
import { Happenings } from "./happenings.tsx";
import { MemoryOverTime } from "./memory-over-time.tsx";
import { Progress } from "./progress.tsx";

export function Status() {
  return (
    <>
      <div class="grid two">
        <BytesStored />
        <MemoryOverTime />
      </div>
      <Figures />
      <StreamPanel />
      <div class="grid wide-narrow">
        <Progress />
        <Happenings />
      </div>
    </>
  );
}
