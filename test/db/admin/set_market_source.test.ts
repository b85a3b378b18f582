import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

const exchange = testExchange(test);
const { makeMarket, operate } = exchange;

const setSource = (market_id: string, rules: string | null, source_url: string | null) =>
  operate("set_market_source", { market_id, rules, source_url });

async function sourceOf(market_id: string): Promise<unknown[]> {
  const rows = await exchange.query(
    "select rules, source_url from admin.markets where market_id = $1",
    [market_id],
  );
  return [rows[0].rules, rows[0].source_url];
}

test("rules and source are set, and null removes each", async (t) => {
  const id = await makeMarket();
  t.deepEqual(await sourceOf(id), [null, null]);
  await setSource(id, "As the office says.\nOn Monday.", "HTTPS://office.example/a?b=c#d");
  t.deepEqual(await sourceOf(id), [
    "As the office says.\nOn Monday.",
    "HTTPS://office.example/a?b=c#d",
  ]);
  await setSource(id, null, "http://office.example");
  t.deepEqual(await sourceOf(id), [null, "http://office.example"]);
  await setSource(id, "x".repeat(4000), null);
  t.deepEqual(await sourceOf(id), ["x".repeat(4000), null]);
});

test("the audit row has the values and those from before", async (t) => {
  const id = await makeMarket();
  await setSource(id, "One.", "https://one.example");
  await setSource(id, "Two.", null);
  const rows = await exchange.query(
    `select arguments from admin.audit_log
     where action = 'set_market_source' and arguments ->> 'market_id' = $1 order by id`,
    [id],
  );
  t.deepEqual(
    rows.map(({ arguments: given }) => given),
    [
      {
        ...{ market_id: id, rules: "One.", source_url: "https://one.example" },
        before: { rules: null, source_url: null },
      },
      {
        ...{ market_id: id, rules: "Two.", source_url: null },
        before: { rules: "One.", source_url: "https://one.example" },
      },
    ],
  );
});

const wrong: [what: string, rules: string | null, sourceUrl: string | null][] = [
  ["blank rules", " \n", null],
  ["rules of 4,001 characters", "x".repeat(4001), null],
  ["no scheme", null, "office.example"],
  ["a script", null, "javascript:alert(1)"],
  ["a script after a line of an address", null, "javascript:alert(1)\nhttps://office.example"],
  ["an address before another line", null, "https://office.example\njavascript:alert(1)"],
  ["data", null, "data:text/html,https://office.example"],
  ["a file", null, "ftp://office.example"],
  ["no host", null, "https://"],
  ["a space", null, "https://office.example/a b"],
  ["a quote", null, 'https://office.example/"onmouseover="alert(1)'],
  ["a tag", null, "https://office.example/<script>"],
  ["a backslash", null, "https:\\\\office.example"],
  ["a control character", null, "https://office.example/\u0001"],
  ["an empty text", null, ""],
  ["2,001 characters", null, `https://office.example/${"x".repeat(1978)}`],
];

for (const [what, rules, sourceUrl] of wrong) {
  test(`INVALID_REQUEST: ${what}`, async (t) => {
    const id = await makeMarket();
    await t.throwsAsync(setSource(id, rules, sourceUrl), { code: "EX001" });
    t.deepEqual(await sourceOf(id), [null, null]);
    if (sourceUrl === null) return;
    // The same is no address of a picture.
    const picture = { title: what, category: "tests", thumbnail_url: sourceUrl };
    const message = /^The address of the picture must begin with/;
    await t.throwsAsync(operate("create_market", picture), { code: "EX001", message });
    await t.throwsAsync(operate("create_event", picture), { code: "EX001", message });
  });
}

test("a picture may have the addresses that a source may have", async (t) => {
  for (const thumbnail_url of [
    "HTTPS://office.example/a?b=c#d",
    "http://office.example",
    `https://office.example/${"x".repeat(1977)}`,
  ]) {
    const about = { title: "With a picture", category: "tests", thumbnail_url };
    await t.notThrowsAsync(operate("create_market", about));
    await t.notThrowsAsync(operate("create_event", about));
    await t.notThrowsAsync(setSource(await makeMarket(), null, thumbnail_url));
  }
});

test("INVALID_STATE: a resolved market", async (t) => {
  const id = await makeMarket();
  await operate("resolve_market", { market_id: id, outcome: "yes" });
  await t.throwsAsync(setSource(id, "Later.", null), { code: "EX019" });
});

test("NOT_FOUND: no such market", async (t) => {
  await t.throwsAsync(setSource("01900000-0000-7000-8000-000000000000", "R", null), {
    code: "EX017",
  });
});

for (const [evidence, what] of [
  ["\t\n ", "white space"],
  ["x".repeat(2001), "2,001 characters"],
]) {
  test(`INVALID_REQUEST: evidence of ${what}, for a resolution and a correction`, async (t) => {
    const market_id = await makeMarket();
    const outcome = { market_id, outcome: "yes", evidence };
    await t.throwsAsync(operate("resolve_market", outcome), { code: "EX001", message: /evidence/ });
    await operate("resolve_market", { ...outcome, evidence: "x".repeat(2000) });
    await t.throwsAsync(
      operate("correct_resolution", { ...outcome, outcome: "no", reason: "a mistake" }),
      { code: "EX001", message: /evidence/ },
    );
  });
}
