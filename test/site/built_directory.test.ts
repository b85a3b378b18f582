import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import test from "ava";
import { makeIfStale } from "../../src/site/built_directory.ts";
import { loadWebsite } from "../../src/site/files.ts";

/** Processes that are started at the same time after an update all build, and all read. */

const PROCESSES = 12;
const FILES = 20;

/** A website of small files, made in steps as a bundler does. */
async function build(fresh: string, version: number): Promise<void> {
  await mkdir(join(fresh, "operator"), { recursive: true });
  await mkdir(join(fresh, "assets"));
  const write = (name: string) => writeFile(join(fresh, name), `${name} ${version}`);
  for (const name of ["index.html", "operator/index.html"]) await write(name);
  for (let file = 0; file < FILES; file++) {
    await write(`assets/${file}.js`);
    await delay(Math.random() * 2);
  }
}

test("each of many processes has a whole website of its own sources", async (t) => {
  const root = await mkdtemp(join(tmpdir(), `pgmarkets-test-${process.pid}-`));
  t.teardown(() => rm(root, { recursive: true }));
  const directory = join(root, "website");
  for (let version = 1; version <= 20; version++) {
    const start = async () => {
      await makeIfStale(directory, String(version), (fresh) => build(fresh, version));
      const { page, assets } = await loadWebsite(directory);
      return [page, ...assets.values()].map(({ encodings }) => encodings.identity.toString());
    };
    const websites = await Promise.all(Array.from({ length: PROCESSES }, start));
    for (const files of websites) {
      t.is(files.length, FILES + 1);
      for (const content of files) t.regex(content, new RegExp(` ${version}$`));
    }
    t.is(await readFile(join(directory, "index.html"), "utf8"), `index.html ${version}`);
  }
});
