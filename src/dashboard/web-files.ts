/** The directory of the built pages, also for code that runs from source. */
import { fileURLToPath } from "node:url";

const built = import.meta.url.endsWith(".ts") ? "../../dist/dashboard/web/" : "../dashboard/web/";

export const webFiles = fileURLToPath(new URL(built, import.meta.url));
