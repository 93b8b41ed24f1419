/**
 * A strict parser for the part of Mermaid's flowchart grammar that explain uses: nodes with quoted labels and arrows
 * with quoted labels, one on each line. Any other text is an error, as in Mermaid itself.
 */
export interface Flowchart {
  /** Labels by node, with character codes decoded and line breaks as "\n". */
  readonly nodes: ReadonlyMap<string, string>;
  readonly arrows: readonly {
    readonly from: string;
    readonly to: string;
    readonly kind: string;
    readonly label: string;
  }[];
}

// A label contains nothing that ends the quotes, starts a tag other than a line break, or has a meaning for Mermaid's
// preprocessing.
const LABEL = String.raw`"((?:[A-Za-z0-9 ,.()]|#\d+;|<br\/>)*)"`;
const NODE = new RegExp(String.raw`^  (s\d+(?:r\d+)?)(?:\[${LABEL}\]|\[\(${LABEL}\)\])$`);
const ARROW = new RegExp(String.raw`^  (s\d+(?:r\d+)?) (-->|-\.->|==>)\|${LABEL}\| (s\d+)$`);

export function readFlowchart(text: string): Flowchart {
  const [head, ...lines] = text.split("\n");
  if (head !== "flowchart TD") throw new Error(`no flowchart: ${head}`);
  const nodes = new Map<string, string>();
  const arrows: { from: string; to: string; kind: string; label: string }[] = [];
  for (const line of lines) {
    const node = NODE.exec(line);
    const arrow = ARROW.exec(line);
    if (node?.[1] !== undefined) {
      if (nodes.has(node[1])) throw new Error(`${node[1]} is there twice`);
      nodes.set(node[1], shown(node[2] ?? node[3] ?? ""));
    } else if (arrow !== null) {
      const [, from = "", kind = "", label = "", to = ""] = arrow;
      for (const end of [from, to]) if (!nodes.has(end)) throw new Error(`no node ${end}`);
      arrows.push({ from, to, kind, label: shown(label) });
    } else throw new Error(`neither a node nor an arrow: ${line}`);
  }
  return { nodes, arrows };
}

function shown(label: string): string {
  return label.replaceAll("<br/>", "\n").replace(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
