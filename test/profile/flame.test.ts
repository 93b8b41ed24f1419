/** Flame graphs: read from files, ours and others, and the HTML file. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fileName, flameHtml, flameProfile } from "../../src/profile/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("flame");
const drawing = readFileSync(fileURLToPath(new URL("../../dist/profile/flame-page.js", import.meta.url)), "utf8");
const HOSTILE = `</script><img src=x onerror="alert(1)">&"'\u2028`;

function node(functionName: string, selfSize: number, children: readonly object[] = [], url = "") {
  const callFrame = { functionName, scriptId: "0", url, lineNumber: 4, columnNumber: 0 };
  return { callFrame, selfSize, id: 1, children };
}

function written(name: string, content: unknown): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

test("[M8] a profile of another program is read, too", () => {
  const head = node("(root)", 0, [
    node("", 10, [node("f", 5)], "file:///home/me/a%20b.js"),
    node("g", 1, [], "node:fs"),
  ]);
  const { title, views, curve } = flameProfile(written("v8.heapprofile", { head, samples: [] }));
  expect(title).toBe("v8.heapprofile");
  expect(curve).toEqual([]);
  expect(views.map(({ name, root }) => [name, root.total])).toEqual([["peak", 16]]);
  expect(views[0]?.root.children[0]).toMatchObject({
    name: "(anonymous)",
    place: "/home/me/a b.js:5",
    kind: "code",
    total: 15,
    own: 10,
  });
});

test("[M8] what is no profile is refused by name", () => {
  expect(() => flameProfile(written("no.heapprofile", { nodes: [] }))).toThrow(
    /no\.heapprofile cannot be read as a heap profile: it has no tree/,
  );
  writeFileSync(join(directory, "torn.heapprofile"), '{"head":');
  expect(() => flameProfile(join(directory, "torn.heapprofile"))).toThrow(/torn\.heapprofile cannot be read/);
  expect(() => flameProfile(join(directory, "none.heapprofile"))).toThrow(/ENOENT/);
});

test("[M8] the HTML file loads nothing from elsewhere, and names stay text", () => {
  const head = node("(root)", 0, [node(HOSTILE, 10, [], `file:///${HOSTILE}`)]);
  const spillway = { version: 1, title: HOSTILE, worker: 1, kind: "function" };
  const html = flameHtml(flameProfile(written("hostile.heapprofile", { spillway, head, samples: [] })), drawing);
  expect(html).toContain("default-src 'none'");
  expect(html).not.toContain("<img");
  expect(html.match(/<script/g)?.length).toBe(2);
  expect(html.match(/<\/script/g)?.length).toBe(2);
  const [page = "", afterwards = ""] = html.split(/(?<=id="profile">).*?(?=<\/script>)/s);
  expect(page + afterwards).not.toMatch(/<[^>]*\s(src|href|action)=|@import|url\(|fetch\(|XMLHttpRequest|import\(/);
  const addresses = [...html.matchAll(/https?:\/\/[^"'\s]+/g)].map(([address]) => address);
  // The name of SVG elements, which is no address.
  expect(new Set(addresses)).toEqual(new Set(["http://www.w3.org/2000/svg"]));
  const [, json = ""] = /id="profile">(.*?)<\/script>/s.exec(html) ?? [];
  expect(JSON.parse(json).views[0].root.children[0].name).toBe(HOSTILE);
});

test("[M8] names of files are plain, short and different", () => {
  expect(fileName("function", "parse", 3)).toBe("function-parse.worker-3.heapprofile");
  const odd = ["../../etc", "a/b", "a b", "x".repeat(300), "x".repeat(301), "é"].map((label) =>
    fileName("operator", label, 1),
  );
  expect(new Set(odd).size).toBe(odd.length);
  for (const name of odd) expect(name).toMatch(/^operator-[\w.-]{1,90}\.worker-1\.heapprofile$/);
});
