import test from "ava";
import { findReleaseFaults, readReleases } from "../../migrate/releases.ts";
import { readText } from "../helpers/repository.ts";

/** Databases in use have run the migrations of released versions: these texts never change. */

/** Its first migration was rewritten, so its databases have no way on. */
const withoutUpgrade = "0.1.0";

test("the migrations of released versions are as they were released", async (t) => {
  t.deepEqual(await findReleaseFaults(), []);
});

test("a version with a date in CHANGELOG.md is released: npm run release", async (t) => {
  const dated = [...readText("CHANGELOG.md").matchAll(/^## \[([^\]]+)\] - \d/gm)].map(
    ([, version]) => version!,
  );
  t.deepEqual(
    Object.keys(await readReleases()).sort(),
    dated.filter((version) => version !== withoutUpgrade).sort(),
  );
});
