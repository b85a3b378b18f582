import { basename, dirname, join } from "node:path";
import test from "ava";
import { listFiles, readText } from "../helpers/repository.ts";

/** A folder imports from folders of earlier lines only. `src` stands for the files directly in it. */
const layers = [
  ["src", "src/client"],
  ["src/database", "src/website"],
  [
    ...["src/engine", "src/streams", "src/graphql", "src/worker", "src/local"],
    ...["src/accounts", "src/mail", "src/proofs", "src/doctor"],
  ],
  ["src/http", "jobs"],
  ["src/api"],
  ["src/site"],
  ["src/server"],
  ["src/bin"],
];

const files = [...listFiles("src"), ...listFiles("jobs")].filter((path) => /\.tsx?$/.test(path));

/** The folder of a file. The website is one folder, with all that is in it. */
function folderOf(path: string): string {
  return path.startsWith("src/website/") ? "src/website" : dirname(path);
}

function layerOf(folder: string): number {
  return layers.findIndex((folders) => folders.includes(folder));
}

/** What a file imports from other folders of ours, types and dynamic imports included. */
function foreignImports(path: string): string[] {
  return [...readText(path).matchAll(/(?:from|import\()\s*"(\.[^"]+\.tsx?)"/g)]
    .map(([, target = ""]) => join(dirname(path), target))
    .filter((target) => folderOf(target) !== folderOf(path));
}

test("every folder has a layer, and every layer has files", (t) => {
  const folders = new Set(files.map((path) => folderOf(path)));
  t.deepEqual([...folders].sort(), layers.flat().sort());
});

test("no import goes up, or sideways to another folder of the layer", (t) => {
  const wrong = files.flatMap((path) =>
    foreignImports(path)
      .filter((target) => layerOf(folderOf(target)) >= layerOf(folderOf(path)))
      .map((target) => `${path} imports ${target}`),
  );
  t.deepEqual(wrong, []);
});

test("no two files have one name, and no two exported functions", (t) => {
  const ours = files.filter((path) => folderOf(path) !== "src/website");
  const exported = ours.flatMap((path) =>
    [...readText(path).matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(
      ([, name = ""]) => name,
    ),
  );
  for (const names of [ours.map((path) => basename(path)), exported]) {
    t.true(names.length > 50);
    t.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  }
});
