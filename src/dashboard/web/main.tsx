/** Starts the pages. */
import { render } from "preact";
import { App } from "./app.tsx";
import { Live, LiveContext } from "./live/index.ts";
import { startTheme } from "./theme.ts";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import "uplot/dist/uPlot.min.css";

startTheme();
const live = new Live();
live.open();
const app = document.getElementById("app");
if (app !== null) {
  render(
    <LiveContext.Provider value={live}>
      <App />
    </LiveContext.Provider>,
    app,
  );
}
