import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "ava";
import { buildIfStale, builtDirectory } from "../../src/site/build.ts";
import { loadWebsite } from "../../src/site/files.ts";

test("what is built is not built again", async (t) => {
  await buildIfStale();
  t.false(await buildIfStale());
});

test("every file that the page names is there, and the chart is not among them", async (t) => {
  await buildIfStale();
  const { assets } = await loadWebsite(builtDirectory);
  const page = await readFile(join(builtDirectory, "index.html"), "utf8");
  const named = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  t.true(named.length >= 3);
  for (const path of named) t.true(assets.has(path), path);
  t.true([...assets.keys()].some((path) => path.includes("lightweight-charts.production")));
  t.false(named.some((path) => path.includes("lightweight-charts")));
});

test("no built file names another host", async (t) => {
  await buildIfStale();
  const { assets, page } = await loadWebsite(builtDirectory);
  // Names of XML's namespaces, licences and problems' explanations are not fetched.
  const harmless =
    /^https?:\/\/(?:www\.w3\.org|www\.apache\.org|www\.tradingview\.com|www\.iana\.org)\b/;
  for (const { encodings } of [page, ...assets.values()]) {
    const addresses =
      encodings.identity.toString().match(/https?:\/\/[a-z0-9.-]+\.[a-z]{2,}/g) ?? [];
    t.deepEqual(
      addresses.filter((address) => !harmless.test(address)),
      [],
    );
  }
});
