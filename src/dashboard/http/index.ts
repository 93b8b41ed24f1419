/** The dashboard over HTTP: access control and routes. */
export { DashboardServer } from "./server.ts";
export { StaticFiles } from "./static-files.ts";
