import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.create_markets: all of them or none; admin.add_note. */

const exchange = testExchange(test);
const { makeTrader, operate, query } = exchange;

const nobody = "01900000-0000-7000-8000-000000000000";
const inTests = { category: "tests" };
const make = (markets: unknown, dry_run: unknown = false) =>
  query("select * from admin.create_markets(markets => $1, dry_run => $2)", [
    JSON.stringify(markets),
    dry_run,
  ]);
const count = async (what: string) =>
  Number((await query(`select count(*) from ${what}`))[0].count);

test.serial("each market is as admin.create_market would make it", async (t) => {
  const event_id = await operate("create_event", { title: "A cup", ...inTests });
  const made = await make([
    { title: "One", ...inTests },
    { title: "Two", ...inTests, event_id, open: false, close_time: "2090-01-01T00:00:00Z" },
  ]);
  t.deepEqual(
    made.map(({ place, title }) => [place, title]),
    [
      [1, "One"],
      [2, "Two"],
    ],
  );
  t.like(await exchange.market(made[0].market_id), {
    title: "One",
    status: "open",
    description: "",
  });
  t.like(await exchange.market(made[1].market_id), {
    ...{ title: "Two", status: "paused", eventId: event_id },
    closeTime: "2090-01-01T00:00:00.000Z",
  });
});

test.serial("values may be texts, as those of a CSV file are", async (t) => {
  const event_id = await operate("create_event", { title: "A cup", ...inTests });
  const [made] = await make([
    { title: "One", ...inTests, event_id, open: "false", position: "7", close_time: "2090-01-01" },
  ]);
  const [market] = await query("select * from admin.markets where market_id = $1", [
    made.market_id,
  ]);
  t.like(market, { status: "paused", position: 7, close_time: new Date("2090-01-01") });
});

test.serial("a dry run makes nothing but a row of the audit log", async (t) => {
  const before = [await count("catalog.markets"), await count("admin.audit_log")];
  const tried = await make([{ title: "One", ...inTests }], true);
  t.deepEqual(tried, [{ place: 1, title: "One", market_id: null }]);
  t.deepEqual([await count("catalog.markets"), (await count("admin.audit_log")) - 1], before);
});

for (const [what, entry, code, message] of [
  ["no title", { ...inTests }, "EX001", /^Market 2: /],
  ["an unknown category", { title: "T", category: "nowhere" }, "EX017", /^Market 2: .*nowhere/],
  ["an unknown event", { title: "T", ...inTests, event_id: nobody }, "EX017", /^Market 2: /],
  ["a wrong id", { title: "T", ...inTests, event_id: "x" }, "EX001", /^Market 2: /],
  ["a wrong time", { title: "T", ...inTests, close_time: "soon" }, "EX001", /^Market 2: /],
  ["a past time", { title: "T", ...inTests, close_time: "2020-01-01" }, "EX001", /^Market 2: /],
  ["an unknown key", { title: "T", ...inTests, colour: "red" }, "EX001", /Market 2: .*colour/],
  ["no object", "T", "EX001", /^Market 2: /],
] as const) {
  test.serial(`${what}: no market is made, and the entry is named`, async (t) => {
    const before = await count("catalog.markets");
    for (const dry_run of [true, false]) {
      const asked = make([{ title: "First", ...inTests }, entry], dry_run);
      await t.throwsAsync(asked, { code, message });
    }
    t.is(await count("catalog.markets"), before);
  });
}

test.serial("INVALID_REQUEST: no array, none, too many, or neither dry nor not", async (t) => {
  const one = { title: "T", ...inTests };
  for (const markets of [null, {}, [], Array(501).fill(one)]) {
    await t.throwsAsync(make(markets, true), { code: "EX001" });
  }
  await t.throwsAsync(make([one], null), { code: "EX001" });
  t.is((await make(Array(500).fill(one), true)).length, 500);
});

test("a note is for staff: with its writer, and its words not in the audit log", async (t) => {
  const user_id = await makeTrader();
  await operate("add_note", { user_id, note: "called twice" });
  await operate("add_note", { user_id, note: "is calm again" });
  const notes = await query(
    "select note, operator from admin.notes where user_id = $1 order by note_key",
    [user_id],
  );
  t.deepEqual(
    notes.map(({ note }) => note),
    ["called twice", "is calm again"],
  );
  t.truthy(notes[0].operator);
  const [{ logged }] = await query(
    "select count(*)::int as logged from admin.audit_log where arguments::text ~ 'called twice'",
  );
  t.is(logged, 0);
  for (const note of [null, " ", "x".repeat(4001)]) {
    await t.throwsAsync(operate("add_note", { user_id, note }), { code: "EX001" });
  }
  await t.throwsAsync(operate("add_note", { user_id: nobody, note: "x" }), { code: "EX017" });
});
