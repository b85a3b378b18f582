import test from "ava";
import { testDatabase } from "../helpers/database/test_database.ts";

/** Servers look for sequences that lag when they start, also while tables come and go. */

const database = testDatabase(test);
const ROUNDS = 300;

test("tables that are dropped meanwhile do not lag", async (t) => {
  const { pool } = database;
  const look = async () => (await pool.query("select from core.lagging_sequences()")).rows.length;
  for (let round = 0; round < ROUNDS; round++) {
    await pool.query(`
      begin;
      set local role exchange_owner;
      create table core.comes_and_goes (id bigint generated always as identity);
      commit`);
    const [lagging] = await Promise.all([look(), pool.query("drop table core.comes_and_goes")]);
    t.is(lagging, 0);
  }
});
