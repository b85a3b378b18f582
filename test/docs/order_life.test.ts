import test from "ava";
import { testDatabase } from "../helpers/database/test_database.ts";
import { readDocument } from "./document.ts";
import { runSqlDocument } from "./sql_document.ts";

const database = testDatabase(test);

test("docs/order_life.md prints what it says", async (t) => {
  await runSqlDocument(t, readDocument("docs/order_life.md"), database.pool);
});
