import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { buildIfStale, builtDirectory } from "../../src/site/build.ts";
import { loadWebsite } from "../../src/site/files.ts";
import { makeCheckout } from "../helpers/processes/checkout.ts";
import { compressedKilobytes, firstScripts } from "./first_load.ts";

test.before("build", async () => {
  await buildIfStale();
});

test("what is built is not built again", async (t) => {
  t.false(await buildIfStale());
});

test("every file that the page names is there", async (t) => {
  const { assets } = await loadWebsite(builtDirectory);
  const page = await readFile(join(builtDirectory, "index.html"), "utf8");
  const named = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
  t.true(named.length >= 3);
  for (const path of named) t.true(assets.has(path), path);
});

test("no built file names another host", async (t) => {
  const { assets, page, staffPage } = await loadWebsite(builtDirectory);
  // Names of XML's namespaces, licences and problems' explanations are not fetched.
  const harmless =
    /^https?:\/\/(?:www\.w3\.org|www\.apache\.org|www\.tradingview\.com|www\.iana\.org)\b/;
  for (const { encodings } of [page, staffPage, ...assets.values()]) {
    const addresses =
      encodings.identity.toString().match(/https?:\/\/[a-z0-9.-]+\.[a-z]{2,}/g) ?? [];
    t.deepEqual(
      addresses.filter((address) => !harmless.test(address)),
      [],
    );
  }
});

test("the first load has at most 60 KB of compressed script", async (t) => {
  const website = await loadWebsite(builtDirectory);
  const paths = firstScripts(website);
  t.true(paths.length > 0);
  const kilobytes = compressedKilobytes(website, paths);
  t.log(`${kilobytes.toFixed(1)} KB`);
  t.true(kilobytes > 0 && kilobytes <= 60);
});

test("what a script imports at once belongs to the first load, what it imports later does not", (t) => {
  const file = (text: string, br: number) => ({
    contentType: "text/javascript",
    encodings: { identity: Buffer.from(text), br: Buffer.alloc(br) },
  });
  const here = "./";
  const website = {
    page: file(`<script type="module" src="/assets/a.js"></script>`, 1),
    staffPage: file("", 1),
    assets: new Map([
      [
        "/assets/a.js",
        file(`import{x}from"${here}b.js";import"${here}c.js";import("${here}d.js")`, 1000),
      ],
      ["/assets/b.js", file(`export const x=1`, 200)],
      ["/assets/c.js", file(`import*as b from"${here}b.js"`, 30)],
      ["/assets/d.js", file(`late`, 4)],
    ]),
    ownPages: new Map(),
  };
  const paths = firstScripts(website);
  t.deepEqual(paths, ["/assets/a.js", "/assets/b.js", "/assets/c.js"]);
  t.is(compressedKilobytes(website, paths), 1.23);
});

test("without the bundler one line says to copy the built files, unless they are there", async (t) => {
  const { directory, destroy } = await makeCheckout();
  t.teardown(destroy);
  // The bundler is there, and its compiled part is not, as without optional dependencies.
  const env = { PATH: process.env.PATH, NAPI_RS_NATIVE_LIBRARY_PATH: join(directory, "none.node") };
  const opening = join(import.meta.dirname, "opening_process.ts");
  const run = async (...options: string[]) => {
    const child = promisify(execFile)(process.execPath, options, { cwd: directory, env });
    const { stdout, stderr } = await child.catch(
      (error: unknown) => error as Awaited<typeof child>,
    );
    return [stdout, ...stderr.split("\n").filter((line) => line !== "")];
  };
  const opened = async () => {
    const [served, ...lines] = await run(opening, directory);
    const logged = lines.map((line) => JSON.parse(line));
    return [served, ...logged.map(({ level, msg, error }) => [level, msg, error])];
  };
  const advice =
    "the website's bundler is not installed: copy dist/website/ from an installation of this " +
    "version that has it";
  t.deepEqual(await opened(), ["pages"]);
  await rm(join(directory, "dist/website/.built_from"));
  t.deepEqual(await opened(), [
    "pages",
    ["warn", `the website was built of other sources: ${advice}`, undefined],
  ]);
  await rm(join(directory, "dist"), { recursive: true });
  t.deepEqual(await opened(), [
    "nothing",
    ["error", `there is no website to serve: ${advice}`, undefined],
  ]);
  t.deepEqual(await run("src/bin/build_website.ts"), ["", `The website was not built: ${advice}`]);
});
