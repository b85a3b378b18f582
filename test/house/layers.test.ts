import { basename, dirname, join } from "node:path";
import test from "ava";
import { listFiles, readText } from "../helpers/repository.ts";

/** A folder imports from folders of earlier lines only. `src` stands for the files directly in it. */
const layers = [
  ["src"],
  ["src/database"],
  ["src/engine", "src/streams", "src/graphql", "src/worker", "src/local"],
  ["src/http", "jobs"],
  ["src/api"],
  ["src/server"],
  ["src/bin"],
];

const files = [...listFiles("src"), ...listFiles("jobs")].filter((path) => path.endsWith(".ts"));

function layerOf(folder: string): number {
  return layers.findIndex((folders) => folders.includes(folder));
}

/** What a file imports from other folders of ours, types and dynamic imports included. */
function foreignImports(path: string): string[] {
  return [...readText(path).matchAll(/(?:from|import\()\s*"(\.[^"]+\.ts)"/g)]
    .map(([, target = ""]) => join(dirname(path), target))
    .filter((target) => dirname(target) !== dirname(path));
}

test("every folder has a layer, and every layer has files", (t) => {
  const folders = new Set(files.map((path) => dirname(path)));
  t.deepEqual([...folders].sort(), layers.flat().sort());
});

test("no import goes up, or sideways to another folder of the layer", (t) => {
  const wrong = files.flatMap((path) =>
    foreignImports(path)
      .filter((target) => layerOf(dirname(target)) >= layerOf(dirname(path)))
      .map((target) => `${path} imports ${target}`),
  );
  t.deepEqual(wrong, []);
});

test("no two files have one name, and no two exported functions", (t) => {
  const exported = files.flatMap((path) =>
    [...readText(path).matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(
      ([, name = ""]) => name,
    ),
  );
  for (const names of [files.map((path) => basename(path)), exported]) {
    t.true(names.length > 50);
    t.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  }
});
