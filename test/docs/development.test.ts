import test from "ava";
import { readText } from "../helpers/repository.ts";
import { isUpdating, readDocument } from "./document.ts";

/** The files whose text the page shows, in the order of its blocks. */
const files = ["test/docs/clock_example.test.ts", "jobs/ledger__verify.ts"];

test("docs/development.md shows its examples as they are", (t) => {
  const page = readDocument("docs/development.md");
  const shown = page.blocks.filter(({ language }) => language === "ts");
  const examples = files.map((path) => readText(path).trimEnd());
  if (isUpdating) {
    shown.forEach((block, index) => {
      page.replace(block, examples[index] ?? "");
    });
    page.save();
  }
  t.deepEqual(
    shown.map(({ text }) => text),
    examples,
  );
});
