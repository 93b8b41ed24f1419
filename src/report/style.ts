/** The report's style, for light and dark screens and for print. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --ground: #fff; --panel: #f6f8fa; --line: #d1d9e0;
  --bad: #cf222e; --warn: #9a6700; --blue: #3b82c4; --blue2: #7fb2de; --blue3: #b6d4ee; --grey: #9aa4ae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --ground: #0d1117; --panel: #161b22;
  --line: #30363d; --bad: #ff7b72; --warn: #e3b341; --blue: #4493d8; --blue2: #2f6aa3; --blue3: #234b73; --grey: #6e7781; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 24px; max-width: 1100px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 19px; margin: 36px 0 8px; } h3 { font-size: 16px; margin: 20px 0 6px; }
p { margin: 6px 0; } .soft, figcaption, .empty, .left { color: var(--soft); } .left, figcaption { font-size: 13px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 10px; margin: 16px 0; padding: 0; list-style: none; }
.tiles li { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 8px 12px; }
.tiles b { display: block; font-size: 18px; } .tiles .bad b { color: var(--bad); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; width: 100%; }
th, td { text-align: left; padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { overflow-wrap: anywhere; } td.n, th.n { text-align: right; white-space: nowrap; } td.name { min-width: 180px; }
section.card { border: 1px solid var(--line); border-left: 4px solid var(--bad); border-radius: 6px; padding: 4px 16px 12px; margin: 14px 0; }
section.finding { border-left-color: var(--warn); } .error { color: var(--bad); white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: 8px 0; } svg { width: 100%; height: auto; display: block; } svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg.stream { overflow: visible; } .grid { stroke: var(--line); stroke-width: 1; } .run { fill: none; stroke-width: 12; }
.curve { display: inline-block; width: 330px; margin-right: 20px; vertical-align: top; } .curve .line { fill: none; stroke: var(--blue); stroke-width: 2; }
.limit { stroke: var(--bad); stroke-dasharray: 4 3; } .mark-death { stroke: var(--bad); stroke-width: 2; } .mark-retry { stroke: var(--warn); stroke-width: 2; stroke-dasharray: 3 3; }
.key { margin-right: 12px; white-space: nowrap; } .key i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 4px; }
.kind-managed { fill: var(--blue); background: var(--blue); } .kind-unmanaged { fill: var(--blue2); background: var(--blue2); }
.kind-recent { fill: var(--blue3); background: var(--blue3); } .kind-program { fill: #8a6fc0; background: #8a6fc0; }
.kind-supervisor { fill: #b79ae6; background: #b79ae6; } .kind-spilled { fill: var(--grey); background: var(--grey); }
.op0 { stroke: #4878cf; background: #4878cf; } .op1 { stroke: #55a868; background: #55a868; } .op2 { stroke: #8172b2; background: #8172b2; }
.op3 { stroke: #c9a227; background: #c9a227; } .op4 { stroke: #3aa6b9; background: #3aa6b9; } .op5 { stroke: #b5739d; background: #b5739d; }
.op6 { stroke: #7a8b3c; background: #7a8b3c; } .op7 { stroke: #5d6d9e; background: #5d6d9e; } .op8 { stroke: #a07855; background: #a07855; }
.op9 { stroke: #2f8f83; background: #2f8f83; } .op10 { stroke: #9467bd; background: #9467bd; } .op11 { stroke: #8c8c8c; background: #8c8c8c; }
.disk { stroke: #f08c1e; background: #f08c1e; } .failed { stroke: var(--bad); background: var(--bad); } .killed { stroke: #000; background: #000; }
@media (prefers-color-scheme: dark) { .killed { stroke: #fff; background: #fff; } }
.node rect { fill: var(--panel); stroke: var(--line); } .node.slowest rect { stroke: var(--warn); stroke-width: 2; } .node text { fill: var(--ink); } .node text.soft { fill: var(--soft); }
.edge { stroke: var(--soft); fill: none; } code { font: 12px ui-monospace, monospace; overflow-wrap: anywhere; }
details > summary { cursor: pointer; } pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 12px ui-monospace, monospace; background: var(--panel); padding: 8px; }
@media print { body { max-width: none; padding: 0; } h2 { break-after: avoid; } section.card, figure, tr { break-inside: avoid; } details { display: block; } }
`;
