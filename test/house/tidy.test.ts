import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import test from "ava";
import { listFiles, readText, rootDirectory } from "../helpers/repository.ts";

/** Generated, and not in the repository. */
const generated = ["src/client/schema.d.ts"];

const files = listFiles().filter((path) => !generated.includes(path));
const code = files.filter((path) => /\.tsx?$/.test(path));
const texts = files.filter(
  (path) =>
    /\.(tsx?|css|js|sql|md|json|yml|sh|py)$/.test(path) && !path.startsWith("migrate/committed/"),
);

/** The lines that match, as path:line. Patterns are written so that they don't match themselves. */
function linesWith(paths: string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    readText(path)
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}

test("no note in the code defers work", (t) => {
  t.deepEqual(linesWith(texts, /\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/), []);
});

/** These skip what needs a browser or another program where it is not installed. */
const maySkip = [
  "test/website/journey.ts",
  "test/database/pgbouncer.test.ts",
  "test/deploy/alerts.test.ts",
  "test/deploy/containers.test.ts",
  "test/deploy/patroni.test.ts",
  "test/deploy/pgbackrest.test.ts",
  "test/jobs/publish_history.test.ts",
];

test("no test is skipped, singled out or expected to fail", (t) => {
  const tests = code.filter((path) => path.startsWith("test/") && !maySkip.includes(path));
  t.deepEqual(linesWith(tests, /\btest(?:\.\w+)*\.(?:skip|only|todo|failing)\b/), []);
});

test("no file is too long", (t) => {
  const limits: [RegExp, number][] = [
    [/\.tsx?$/, 600],
    [/^db\/.*\.sql$/, 800],
  ];
  const long = limits.flatMap(([pattern, most]) =>
    files
      .filter((path) => pattern.test(path))
      .map((path) => ({ path, lines: readText(path).split("\n").length }))
      .filter(({ lines }) => lines > most)
      .map(({ path, lines }) => `${path} has ${lines} lines, at most ${most}`),
  );
  t.deepEqual(long, []);
});

test("imports of our own files name the file", (t) => {
  const exists = (path: string) =>
    generated.includes(path) || existsSync(join(rootDirectory, path));
  const wrong = code.flatMap((path) =>
    [...readText(path).matchAll(/(?:from|import\()\s*"(\.[^"]*)"/g)]
      .map(([, target = ""]) => target)
      .filter(
        (target) => !/\.(tsx?|css|json)$/.test(target) || !exists(join(dirname(path), target)),
      )
      .map((target) => `${path}: ${target}`),
  );
  t.deepEqual(wrong, []);
});

test("names of files are lower case, words joined by _", (t) => {
  const sources = files.filter((path) => /^(?:src|jobs|test|db)\//.test(path));
  t.deepEqual(
    sources.filter((path) => !/^(?:[a-z0-9_]+\/)*[a-z0-9_]+(?:\.[a-z0-9]+)+$/.test(path)),
    [],
  );
});

test("dependencies are pinned, and the lock names no registry", (t) => {
  const manifest = JSON.parse(readText("package.json"));
  const versions = ["dependencies", "devDependencies", "optionalDependencies"].flatMap((kind) =>
    Object.entries<string>(manifest[kind] ?? {}),
  );
  t.deepEqual(
    versions.filter(
      ([, version]) => !/^(?:npm:@?[\w/-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version),
    ),
    [],
  );
  t.false(readText("package-lock.json").includes('"resolved":'));
});
