import test from "ava";
import { findReleaseFaults, readReleases } from "../../migrate/releases.ts";
import { listCalls, readReleasedCalls } from "../../migrate/released_calls.ts";
import { readText } from "../helpers/repository.ts";

/** Databases in use have run the migrations of released versions: these texts never change. */

/** They were never deployed, and their databases have no way on. */
const withoutUpgrade = ["0.1.0", "0.2.0"];

test("the migrations of released versions are as they were released", async (t) => {
  t.deepEqual(await findReleaseFaults(), []);
});

test("a version with a date in CHANGELOG.md is released: npm run release", async (t) => {
  const dated = [...readText("CHANGELOG.md").matchAll(/^## \[([^\]]+)\] - \d/gm)].map(
    ([, version]) => version!,
  );
  t.deepEqual(
    Object.keys(await readReleases()).sort(),
    dated.filter((version) => !withoutUpgrade.includes(version)).sort(),
  );
});

test("the functions that the last release calls are still there", async (t) => {
  const calls = await readReleasedCalls();
  t.true(Array.isArray(calls));
  const present = new Map(listCalls().map((call) => [call.name, call]));
  for (const { name, arguments: args, columns } of calls) {
    const now = present.get(name);
    t.not(now, undefined, name);
    t.deepEqual(
      args.filter((argument) => !now?.arguments.includes(argument)),
      [],
      name,
    );
    t.deepEqual(now?.columns.slice(0, columns.length), columns, name);
  }
});

test("the calls of this version are listed with their arguments and results", (t) => {
  const call = listCalls().find(({ name }) => name === "api.get_order");
  t.deepEqual(call, {
    name: "api.get_order",
    arguments: ["user_id uuid", "order_id uuid"],
    columns: ["json"],
  });
});
