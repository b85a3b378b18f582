import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import test from "ava";
import { buildClientIfStale } from "../../src/site/client_package.ts";
import { complaintsAbout } from "../helpers/compiler.ts";
import { rootDirectory } from "../helpers/repository.ts";
import { withDemo } from "./demo.ts";
import { isUpdating, readDocument } from "./document.ts";

/** Printed between the outputs of two blocks. */
const END = "-- the end of a block --";

test("the examples of docs/client.md compile, and print what the page shows", async (t) => {
  const page = readDocument("docs/client.md");
  const blocks = page.blocks.filter(({ language }) => language === "ts");
  const directory = await mkdtemp(join(tmpdir(), "pgmarkets-client-page-"));
  t.teardown(() => rm(directory, { recursive: true }));
  await buildClientIfStale();
  for (const name of ["package.json", "dist", "node_modules"]) {
    await symlink(join(rootDirectory, name), join(directory, name));
  }
  const program = join(directory, "program.ts");
  const lines = blocks.flatMap(({ text }) => [text, `console.log("${END}");`]);
  await writeFile(program, lines.join("\n"));
  t.deepEqual(complaintsAbout(program), []);

  await withDemo(async ({ variables }) => {
    const env = { ...process.env, ...variables };
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
    const outputs = stdout.split(`${END}\n`).map((output) => output.trimEnd());
    t.is(outputs.length, blocks.length + 1);
    for (const [index, block] of blocks.entries()) {
      const shown = page.outputsOf(block, "text");
      if (isUpdating) page.replace(shown[0]!, outputs[index]!);
      t.deepEqual(
        shown.map(({ text }) => text),
        [outputs[index]],
      );
    }
  });
  if (isUpdating) page.save();
});
