import test from "ava";
import { withDemo } from "./demo.ts";
import { readDocument } from "./document.ts";
import { runHttpDocument } from "./http_document.ts";
import { runSqlDocument } from "./sql_document.ts";

test("the trade and the proof of README.md", async (t) => {
  await withDemo(async (world) => {
    await runHttpDocument(t, readDocument("README.md"), world);
    await runSqlDocument(t, readDocument("README.md"), world.pool);
  });
});
