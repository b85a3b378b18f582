import test from "ava";
import { readText } from "../helpers/repository.ts";
import { isUpdating, readDocument } from "./document.ts";

test("docs/development.md shows the example of the clock as it is", (t) => {
  const page = readDocument("docs/development.md");
  const shown = page.blocks.filter(({ language }) => language === "ts");
  const example = readText("test/docs/clock_example.test.ts").trimEnd();
  if (isUpdating) {
    page.replace(shown[0]!, example);
    page.save();
  }
  t.deepEqual(
    shown.map(({ text }) => text),
    [example],
  );
});
