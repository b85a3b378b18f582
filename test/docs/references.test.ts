import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import test from "ava";
import { errorCodes } from "../../src/database/error_codes.ts";
import { createDatabase } from "../helpers/database/test_database.ts";
import { listFiles, readText, rootDirectory } from "../helpers/repository.ts";
import { readDocument } from "./document.ts";

/** What the pages name must exist. */

const pages = listFiles().filter((path) => path.endsWith(".md"));

/** All matches of a pattern in the pages, outside of fenced blocks, as page and first group. */
function named(pattern: RegExp): { page: string; name: string }[] {
  return pages.flatMap((page) => {
    const prose = readText(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
    return [...prose.matchAll(pattern)].map(([, name = ""]) => ({ page, name }));
  });
}

function missing(
  names: { page: string; name: string }[],
  exists: (name: string, page: string) => boolean,
): string[] {
  return names
    .filter(({ name, page }) => !exists(name, page))
    .map(({ name, page }) => `${page}: ${name}`);
}

test("links lead to existing pages and headings", (t) => {
  const links = named(/\]\(([^)\s]+)\)/g).filter(({ name }) => !/^[a-z]+:/.test(name));
  t.true(links.length > 20);
  const exists = (link: string, page: string) => {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(rootDirectory, target))) return false;
    return anchor === undefined || anchorsOf(target).includes(anchor);
  };
  t.deepEqual(missing(links, exists), []);
});

/** The names that a page's headings have when they are linked to. */
function anchorsOf(page: string): string[] {
  const prose = readText(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

test("paths in the pages are those of files and folders", (t) => {
  const paths = named(/`((?:db|src|test|docs|migrate|\.ci)\/[\w./]*)`/g);
  t.true(paths.length > 20);
  t.deepEqual(
    missing(paths, (path) => existsSync(join(rootDirectory, path))),
    [],
  );
});

test("scripts in the pages are those of package.json", (t) => {
  const { scripts } = JSON.parse(readText("package.json"));
  const used = named(/npm run ([\w:-]+)/g);
  t.true(used.length > 10);
  t.deepEqual(
    missing(used, (name) => Object.hasOwn(scripts, name)),
    [],
  );
});

test("tables, functions, types and columns in the pages are those of the database", async (t) => {
  const database = await createDatabase();
  try {
    const { rows } = await database.pool.query(`
      with schemas as (
        select * from pg_namespace where nspowner = 'exchange_owner'::regrole
      )
      select nspname || '.' || proname as name
      from pg_proc join schemas as s on s.oid = pronamespace
      union all
      select nspname || '.' || typname
      from pg_type join schemas as s on s.oid = typnamespace
      union all
      select nspname || '.' || relname || '.' || attname
      from pg_attribute
      join pg_class as c on c.oid = attrelid and attnum > 0
      join schemas as s on s.oid = relnamespace`);
    const known = new Set(rows.map(({ name }) => name));
    const schemas = [...new Set([...known].map((name: string) => name.split(".")[0]))];
    const used = named(new RegExp(`\`((?:${schemas.join("|")})\\.\\w+(?:\\.\\w+)?)[\`(]`, "g"));
    t.true(used.length > 50);
    t.deepEqual(
      missing(used, (name) => known.has(name)),
      [],
    );
  } finally {
    await database.drop();
  }
});

test("codes in the pages are those of the exchange", (t) => {
  const used = named(/`?\b([A-Z]+_[A-Z_]+)\b`?/g).filter(({ name }) => !environment.has(name));
  t.true(used.length > 20);
  t.deepEqual(
    missing(used, (name) => Object.hasOwn(errorCodes, name)),
    [],
  );
});

const environment = new Set(
  ["src/config.ts", ...listFiles("test")]
    .flatMap((path) => readText(path).match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [])
    .filter((name) => !Object.hasOwn(errorCodes, name)),
);

/** Which blocks are run, and by what. */
const run: Record<string, RegExp> = {
  "README.md": /^(?:sh|http|sql|text)$/,
  // Pictures.
  "ARCHITECTURE.md": /^text$/,
  "docs/engine.md": /^mermaid$/,
  // By test/examples/.
  "examples/README.md": /^sh$/,
  "docs/development.md": /^(?:ts|text)$/,
  "docs/client.md": /^(?:ts|text)$/,
  "docs/bots.md": /^(?:sh|http)$/,
  "docs/http_guide.md": /^(?:sh|http)$/,
  "docs/analytics.md": /^(?:sql|sql dba|text|sh|http|graphql|json)$/,
  "docs/order_life.md": /^(?:sql|text)$/,
  "docs/settlement.md": /^(?:sql|text)$/,
  "docs/proof.md": /^(?:sql|text)$/,
  // The body of a refusal, which test/http/ holds to its form.
  "docs/errors.md": /^json$/,
  // Figures of one run on one machine.
  "docs/performance.md": /^(?:sh|text)$/,
};

/** By test/docs/operating.test.ts, and by drills. */
const operating =
  /^(?:sh(?: upgrade)?|text|graphql|json|csv|sql(?: dba| createrole(?: 16)?| both| copy| restored(?: \w+)?| (?:damaged|old|new|primary|warehouse) \w+)?|ini (?:pgbouncer\.ini|pgmarkets@\.service))$/;
const kindsOf = (page: string) => (page.startsWith("docs/operating/") ? operating : run[page]);

test("every block of the pages is of a kind that is tested", (t) => {
  const strays = pages.flatMap((page) =>
    readDocument(page)
      .blocks.map(({ language, info, line }) => ({ kind: `${language} ${info}`.trim(), line }))
      .filter(({ kind }) => kindsOf(page)?.test(kind) !== true)
      .map(({ kind, line }) => `${page}:${line}: ${kind}`),
  );
  t.deepEqual(strays, []);
});
