import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";
import { buy } from "../../helpers/exchange/orders.ts";

/** admin.give_bonus: all users of a list are paid once, or none of them. */

const exchange = testExchange(test);
const { balance, makeMarketWith, makeTrader, makeTraders, operate, place, refusal, rest } =
  exchange;

const nobody = "01900000-0000-7000-8000-000000000000";

type Entry = [user: unknown, cents: unknown];

const entriesOf = (entries: Entry[]) =>
  entries.map(([user_id, amount_cents]) => ({ user_id, amount_cents }));

const give = (name: unknown, ...entries: Entry[]): Promise<number> =>
  operate("give_bonus", { name, users: JSON.stringify(entriesOf(entries)) });

const giveText = (users: string | null) => operate("give_bonus", { name: "welcome", users });

test("each user of the list gets the amount, and the number of them is returned", async (t) => {
  const [ann, bob, cid] = await makeTraders(3, { cents: 100 });
  t.is(await give("welcome", [cid, 700], [ann, 500]), 2);
  t.deepEqual([await balance(ann), await balance(bob), await balance(cid)], [600, 100, 800]);
});

test("once for each name and user: those who have it are passed over", async (t) => {
  const [ann, bob] = await makeTraders(2, { cents: 0 });
  t.is(await give("spring", [ann, 500]), 1);
  t.is(await give("spring", [ann, 500]), 0);
  t.is(await give("spring", [bob, 300], [ann, 500]), 1);
  t.is(await give("summer", [ann, 500]), 1);
  t.deepEqual([await balance(ann), await balance(bob)], [1000, 300]);
});

test("a name is no reference of a deposit", async (t) => {
  const ann = await makeTrader({ cents: 0 });
  await operate("deposit", { user_id: ann, amount_cents: 70, reference: "both" });
  t.is(await give("both", [ann, 500]), 1);
  t.is(await balance(ann), 570);
});

test("ALREADY_EXISTS: the name with another amount, and nobody is paid", async (t) => {
  const [ann, bob] = await makeTraders(2, { cents: 0 });
  await give("autumn", [ann, 500]);
  for (const entries of [
    [
      [bob, 300],
      [ann, 501],
    ],
    [
      [ann, 499],
      [bob, 300],
    ],
  ] as Entry[][]) {
    const error: any = await t.throwsAsync(give("autumn", ...entries), { code: "EX018" });
    t.true(error.message.includes(`of 500 cents to user ${ann}`), error.message);
  }
  t.deepEqual([await balance(ann), await balance(bob)], [500, 0]);
  t.is(await give("autumn", [bob, 300]), 1);
});

test("NOT_FOUND: an unknown user, and nobody is paid", async (t) => {
  const ann = await makeTrader({ cents: 0 });
  await t.throwsAsync(give("winter", [ann, 500], [nobody, 500]), { code: "EX017" });
  t.is(await balance(ann), 0);
});

test("INVALID_REQUEST: amounts, names and lists out of bounds", async (t) => {
  const [ann, bob] = await makeTraders(2, { cents: 0 });
  const most = 1_000_000_000_000_000;
  for (const cents of [0, -1, 1.5, null, "many", true, [1], most + 1, 1e17, "9".repeat(30)]) {
    const error: any = await t.throwsAsync(give("bad", [bob, 5], [ann, cents]), { code: "EX001" });
    t.regex(error.message, /amount/);
  }
  for (const name of [null, "", " ", "x".repeat(201)]) {
    await t.throwsAsync(give(name, [ann, 5]), { code: "EX001", message: /^A name of at most 200/ });
  }
  for (const user of [null, "ann", 7, {}, `{${ann}}`]) {
    await t.throwsAsync(give("bad", [bob, 5], [user, 5]), { code: "EX001", message: /^Entry 2 / });
  }
  for (const users of [null, "null", "{}", "7", '"x"', "[]"]) {
    await t.throwsAsync(giveText(users), { code: "EX001", message: /array of 1 to 1000/ });
  }
  for (const users of ["[7]", "[null]", "[[]]", '["x"]', "[{}]"]) {
    await t.throwsAsync(giveText(users), { code: "EX001", message: /^Entry 1 / });
  }
  await t.throwsAsync(give("bad", [ann, 5], [ann.toUpperCase(), 5]), {
    code: "EX001",
    message: `User ${ann} is named twice`,
  });
  t.deepEqual([await balance(ann), await balance(bob)], [0, 0]);
});

test("a call pays up to 1,000 users", async (t) => {
  const users = await makeMany(1001);
  const entries = users.map((user): Entry => [user, 1]);
  await t.throwsAsync(give("crowd", ...entries), { code: "EX001" });
  t.is(await give("crowd", ...entries.slice(1)), 1000);
  t.is(await balance(users[0]!), 0);
  t.is(await balance(users[1000]!), 1);
});

test("frozen and self-excluded users are paid, as with a deposit", async (t) => {
  const [ann, bob] = await makeTraders(2, { cents: 0 });
  await operate("freeze_user", { user_id: ann, reason: "a test" });
  await operate("self_exclude", { user_id: bob });
  t.is(await give("welcome", [ann, 500], [bob, 500]), 2);
  t.deepEqual([await balance(ann), await balance(bob)], [500, 500]);
});

test("a bonus goes against a debt first", async (t) => {
  const [market, ann, bob] = await makeMarketWith(2, { cents: 10_000 });
  await rest(market, ann, buy("yes", 10, 50));
  await place(market, bob, buy("no", 10, 50));
  await operate("resolve_market", { market_id: market, outcome: "yes" });
  const out = { user_id: ann, amount_cents: 10_500, reference: "all" };
  t.is(await operate("withdraw", out), 0);
  await operate("correct_resolution", { market_id: market, outcome: "no", reason: "wrong" });
  t.is(await balance(ann), -1000);
  await give("consolation", [ann, 400]);
  t.is(await balance(ann), -600);
});

test("a bonus neither hides a loss from the loss limit nor makes one", async (t) => {
  const [market, maker] = await makeMarketWith(1);
  // 10 at 50 cost 500 and a fee of 17.5, rounded up.
  const ann = await makeTrader({ cents: 1000, limits: [518, null, null] });
  await rest(market, maker, buy("no", 20, 50));
  await place(market, ann, buy("yes", 10, 50));
  await give("limit", [ann, 5000]);
  t.is(await refusal(market, ann, buy("yes", 1, 1)), "LOSS_LIMIT");
  const bob = await makeTrader({ cents: 0, limits: [518, null, null] });
  await give("limit", [bob, 1000]);
  t.is((await place(market, bob, buy("yes", 10, 50))).order.status, "filled");
});

test("the audit row has who was named, in the form of the database, and how many were paid", async (t) => {
  const [ann, bob] = await makeTraders(2, { cents: 0 });
  await give("audited", [ann, 500]);
  await give("audited", [bob.toUpperCase(), "300"], [ann, 500]);
  const rows = await exchange.query(
    `select action, arguments from admin.audit_log where arguments ->> 'name' = 'audited'
     order by id desc limit 1`,
  );
  t.deepEqual(rows, [
    {
      action: "give_bonus",
      arguments: {
        name: "audited",
        users: entriesOf([
          [bob, 300],
          [ann, 500],
        ]),
        paid: 1,
      },
    },
  ]);
});

/** Users without cash, by one statement. */
async function makeMany(count: number): Promise<string[]> {
  const rows = await exchange.query(
    `select admin.create_user('many-' || n || '@test.example', 'Many', 'many-' || n) as id
     from generate_series(1, $1) as n`,
    [count],
  );
  return rows.map(({ id }) => id);
}
