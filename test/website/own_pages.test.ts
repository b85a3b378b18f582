import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import type { ExecutionContext } from "ava";
import { withOwnPages } from "../../src/site/own_pages.ts";

/** Pages that the operator of an exchange writes, in Markdown. */

const file = (html: string) => ({
  contentType: "text/html; charset=utf-8",
  encodings: { identity: Buffer.from(html) },
});

const website = () => ({
  page: file("<html><head><title>x</title></head><body></body></html>"),
  ...{ staffPage: file(""), assets: new Map(), ownPages: new Map() },
});

async function folderOf(t: ExecutionContext, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "pgmarkets-pages-"));
  t.teardown(() => rm(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

/** What the document says about own pages. */
function saidBy({ encodings }: { encodings: { identity: Buffer } }): any {
  const html = encodings.identity.toString("utf8");
  const [, content] = /<meta name="own-pages" content="([^"]*)" \/><\/head>/.exec(html)!;
  return JSON.parse(content!.replaceAll("&quot;", '"').replaceAll("&amp;", "&"));
}

test("every document has the list, and that of a page its text", async (t) => {
  const folder = await folderOf(t, {
    "terms.md": "# Terms & fees\n\nA *fee* of 7%.\n",
    "help-lines.md": "# Help lines\r\n\r\n- [Anywhere](https://help.example)\r\n",
    "notes.txt": "no page",
  });
  const { page, ownPages } = await withOwnPages(website(), folder);
  const list = [
    { name: "help-lines", title: "Help lines" },
    { name: "terms", title: "Terms & fees" },
  ];
  t.deepEqual(saidBy(page), { list });
  t.deepEqual([...ownPages.keys()], ["/pages/help-lines", "/pages/terms"]);
  t.deepEqual(saidBy(ownPages.get("/pages/terms")!), {
    list,
    page: { ...list[1], html: "<h1>Terms &amp; fees</h1>\n<p>A <em>fee</em> of 7%.</p>\n" },
  });
  const { html } = saidBy(ownPages.get("/pages/help-lines")!).page;
  t.true(html.includes('<a href="https://help.example">Anywhere</a>'));
});

test("HTML and scripts in a page are text", async (t) => {
  const evil = [
    '# "><script>alert(1)</script>',
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1)) ![b](javascript:alert(2)) <javascript:alert(3)>",
    "</script><script>alert(4)</script>",
  ].join("\n\n");
  const { ownPages } = await withOwnPages(website(), await folderOf(t, { "evil.md": evil }));
  const { html } = saidBy(ownPages.get("/pages/evil")!).page;
  t.false(/<(?!\/?(?:h1|p|a|img)\b)/.test(html), html);
  t.false(/(?:href|src)="[^"]/.test(html), html);
});

test("a file that cannot be a page is named", async (t) => {
  const faults: Record<string, [string, string]> = {
    "no title": ["terms.md", "Terms\n\nText\n"],
    "a title that is too long": ["terms.md", `# ${"x".repeat(61)}\n`],
    "a name in capitals": ["Terms.md", "# Terms\n"],
    "too long a text": ["terms.md", `# Terms\n${"x".repeat(200_000)}`],
  };
  for (const [what, [name, text]] of Object.entries(faults)) {
    const folder = await folderOf(t, { [name]: text });
    await t.throwsAsync(withOwnPages(website(), folder), { message: new RegExp(name) }, what);
  }
  const files = Array.from({ length: 21 }, (_, number) => [`page-${number}.md`, "# A\n"]);
  const many = await folderOf(t, Object.fromEntries(files));
  await t.throwsAsync(withOwnPages(website(), many), { message: /more than 20 pages/ });
  await t.throwsAsync(withOwnPages(website(), join(many, "none")), { code: "ENOENT" });
});
