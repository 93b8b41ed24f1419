/** Makes a heap profile of a running worker and links to it. */
import { useState } from "preact/hooks";
import type { ProfileFile, ProfileRequest, WorkerCard } from "../../api.ts";
import { refusal } from "../fetching.ts";
import { address } from "../route.ts";

const SECONDS = 10;

type Step =
  | { readonly at: "ready" }
  | { readonly at: "taking" }
  | { readonly at: "done"; readonly name: string }
  | { readonly at: "failed"; readonly error: string };

export function ProfileButton({ worker, isRunning }: { readonly worker: WorkerCard; readonly isRunning: boolean }) {
  const [step, setStep] = useState<Step>({ at: "ready" });
  if (!isRunning || worker.kind === "wide" || worker.pid === null) return <>–</>;
  const take = async () => {
    setStep({ at: "taking" });
    try {
      const { name } = await profile({ worker: worker.id, seconds: SECONDS });
      setStep({ at: "done", name });
    } catch (error) {
      setStep({ at: "failed", error: String(error).replace(/^\w*Error: /, "") });
    }
  };
  return (
    <span class="profile-step" aria-live="polite">
      {step.at === "taking" ? (
        `taking ${SECONDS} s …`
      ) : (
        <button type="button" onClick={take}>
          Profile<span class="sr"> worker {worker.id}</span>
        </button>
      )}{" "}
      {step.at === "done" && <a href={address("profiles", step.name)}>show</a>}
      {step.at === "failed" && <span class="error-text">{step.error}</span>}
    </span>
  );
}

async function profile(request: ProfileRequest): Promise<ProfileFile> {
  const response = await fetch("api/profiles", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(await refusal(response));
  return response.json();
}
