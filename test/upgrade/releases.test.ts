import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import type { ExecutionContext } from "ava";
import { makeCheckout } from "../helpers/processes/checkout.ts";
import { runIn } from "./later_version.ts";

/** npm run migrate:release, and what it protects from, each on a copy of the checkout. */

interface Copy {
  run: (script: "commit" | "release", ...args: string[]) => ReturnType<typeof runIn>;
  read: (path: string) => Promise<string>;
  write: (path: string, text: string) => Promise<void>;
  remove: (path: string) => Promise<void>;
}

/** A copy in which no version is released, and which has version 9.0.0. */
async function withCopy(work: (copy: Copy) => Promise<void>): Promise<void> {
  const { directory, destroy } = await makeCheckout();
  const at = (path: string) => join(directory, path);
  try {
    const manifest = JSON.parse(await readFile(at("package.json"), "utf8"));
    await writeFile(at("package.json"), JSON.stringify({ ...manifest, version: "9.0.0" }));
    await writeFile(at("migrate/released.json"), "{}\n");
    await work({
      run: (script, ...args) => runIn(directory, `migrate/${script}.ts`, args),
      read: (path) => readFile(at(path), "utf8"),
      write: (path, text) => writeFile(at(path), text),
      remove: (path) => rm(at(path)),
    });
  } finally {
    await destroy();
  }
}

const first = "migrate/committed/000001.sql";

async function release(t: ExecutionContext, { run }: Copy): Promise<void> {
  const { code, output } = await run("release");
  t.is(code, 0, output);
  t.regex(output, /^released 9\.0\.0 with 000001\.sql/);
}

test("a released migration is not rewritten, and nothing is touched", async (t) => {
  await withCopy(async (copy) => {
    await release(t, copy);
    const before = await copy.read(first);
    const { code, output } = await copy.run("commit", "--rewrite");
    t.is(code, 1);
    t.regex(output, /^migrate\/committed\/\d{6}.*\.sql was released with 9\.0\.0: /);
    t.is(await copy.read(first), before);
  });
});

test("a version is released once", async (t) => {
  await withCopy(async (copy) => {
    await release(t, copy);
    const before = await copy.read("migrate/released.json");
    const { code, output } = await copy.run("release");
    t.is(code, 1);
    t.regex(output, /^9\.0\.0 is released already/);
    t.is(await copy.read("migrate/released.json"), before);
  });
});

test("the next version adds the migrations that are new", async (t) => {
  await withCopy(async (copy) => {
    await release(t, copy);
    const released = JSON.parse(await copy.read("migrate/released.json"));
    const manifest = JSON.parse(await copy.read("package.json"));
    await copy.write("package.json", JSON.stringify({ ...manifest, version: "9.1.0" }));
    await copy.write("migrate/committed/999999-more.sql", "select 1;\n");
    t.is((await copy.run("release")).output, "released 9.1.0 with 999999-more.sql\n");
    const { "9.1.0": added, ...earlier } = JSON.parse(await copy.read("migrate/released.json"));
    t.deepEqual(Object.keys(added), ["999999-more.sql"]);
    t.deepEqual(earlier, released);
  });
});

for (const [title, change, expected] of [
  [
    "has changed",
    async (copy: Copy) => copy.write(first, `${await copy.read(first)}\n`),
    /^000001\.sql has changed since 9\.0\.0 was released with it$/m,
  ],
  ["is missing", (copy: Copy) => copy.remove(first), /^000001\.sql of 9\.0\.0 is missing$/m],
  [
    "got a predecessor",
    (copy: Copy) => copy.write("migrate/committed/000000.sql", "select 1;\n"),
    /^000000\.sql comes before a released migration$/m,
  ],
] as const) {
  test(`nothing is released while a released migration ${title}`, async (t) => {
    await withCopy(async (copy) => {
      await release(t, copy);
      await change(copy);
      const { code, output } = await copy.run("release");
      t.is(code, 1);
      t.regex(output, expected);
    });
  });
}

test("nothing is released while current.sql holds a migration", async (t) => {
  await withCopy(async (copy) => {
    await copy.write("migrate/current.sql", "-- A note.\nselect 1;\n");
    const { code, output } = await copy.run("release");
    t.is(code, 1);
    t.regex(output, /^migrate\/current\.sql holds a migration/);
    t.is(await copy.read("migrate/released.json"), "{}\n");
  });
});
