import test from "ava";
import { readText } from "../helpers/repository.ts";

const page = readText("CHANGELOG.md");
const sections = page.split(/^## /m).slice(1);

/** The version and the date of a section. */
function headingOf(section: string): { version: string; date: string } {
  const [, version = "", date = ""] =
    /^\[([^\]]*)\] - (.*)$/m.exec(section.split("\n")[0] ?? "") ?? [];
  return { version, date };
}

test("CHANGELOG.md has a section for the version of package.json", (t) => {
  const { version } = JSON.parse(readText("package.json"));
  t.true(sections.map((section) => headingOf(section).version).includes(version));
});

test("CHANGELOG.md lists versions from the newest, and only the newest may be unreleased", (t) => {
  const headings = sections.map(headingOf);
  t.true(headings.length >= 2);
  const versions = headings.map(({ version }) => version);
  for (const version of versions) t.regex(version, /^\d+\.\d+\.\d+$/);
  t.deepEqual(
    versions,
    versions.toSorted((a, b) => -a.localeCompare(b, "en", { numeric: true })),
  );
  headings.forEach(({ date }, place) => {
    t.regex(
      date,
      place === 0 ? /^(?:Unreleased|\d{4}-\d\d-\d\d)$/ : /^(?:withdrawn|\d{4}-\d\d-\d\d)$/,
    );
  });
});

test("CHANGELOG.md has the kinds of changes of Keep a Changelog", (t) => {
  const kinds = [...page.matchAll(/^### (.*)$/gm)].map(([, kind = ""]) => kind);
  const known = new Set(["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]);
  t.true(kinds.length > 0);
  t.deepEqual(
    kinds.filter((kind) => !known.has(kind)),
    [],
  );
});
