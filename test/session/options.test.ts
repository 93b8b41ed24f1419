import { expect, test } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { resolveOptions } from "../../src/session/options.ts";

test("an option with dots in its name is answered with the nested form", () => {
  const refused = (options: object) => expect(() => resolveOptions(options));
  refused({ "worker.memory.target": 0.5 }).toThrow(OptionError);
  refused({ "worker.memory.target": 0.5 }).toThrow(
    '"worker.memory.target". Did you mean { worker: { memory: { target: … } } }?',
  );
  refused({ "resourceLimits.cpu": 2 }).toThrow("Did you mean { resourceLimits: { cpu: … } }?");
  refused({ objectStoreMemry: 2 }).toThrow('Did you mean "objectStoreMemory"?');
});
