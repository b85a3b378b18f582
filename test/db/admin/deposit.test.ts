import test from "ava";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** admin.deposit and admin.withdraw: the only ways in and out. */

const exchange = testExchange(test);
const { balance, look, makeTrader, operate } = exchange;

const nobody = "01900000-0000-7000-8000-000000000000";

const move = (kind: "deposit" | "withdraw", user_id: string, cents: unknown, reference: unknown) =>
  operate(kind, { user_id, amount_cents: cents, reference });

test("deposit and withdraw return the new balance", async (t) => {
  const ann = await makeTrader({ cents: 0 });
  t.is(await balance(ann), 0);
  t.is(await move("deposit", ann, 500, "one"), 500);
  t.is(await move("withdraw", ann, 200, "two"), 300);
  t.is(await move("withdraw", ann, 300, "three"), 0);
  t.is(await balance(ann), 0);
});

test("the same reference again is the same movement", async (t) => {
  const ann = await makeTrader({ cents: 0 });
  await move("deposit", ann, 500, "one");
  t.is(await move("deposit", ann, 500, "one"), 500);
  await move("withdraw", ann, 200, "out");
  t.is(await move("withdraw", ann, 200, "out"), 300);
  t.is(await move("deposit", ann, 500, "one"), 300); // the balance as it is now
  t.is(await balance(ann), 300);
});

test("the audit log tells what moved from what was repeated", async (t) => {
  const ann = await makeTrader({ cents: 0 });
  for (let n = 0; n < 2; n++) await move("deposit", ann, 500, "one");
  for (let n = 0; n < 2; n++) await move("withdraw", ann, 200, "out");
  const adjustment = { user_id: ann, amount_cents: 1, reference: "more", reason: "a test" };
  for (let n = 0; n < 2; n++) await operate("adjust_balance", adjustment);
  const reversal = { user_id: ann, reference: "one", reason: "a test" };
  for (let n = 0; n < 2; n++) await operate("reverse_deposit", reversal);
  const rows = await look(
    `select action, arguments ->> 'reference' as reference, arguments ->> 'repeated' as repeated
     from admin.audit_entries
     where user_id = $1 and arguments ? 'reference' order by audit_key`,
    [ann],
  );
  const twice = (action: string, given: string) => [
    { action, reference: given, repeated: null },
    { action, reference: given, repeated: "true" },
  ];
  t.deepEqual(rows, [
    ...[...twice("deposit", "one"), ...twice("withdraw", "out")],
    ...[...twice("adjust_balance", "more"), ...twice("reverse_deposit", "one")],
  ]);
});

test("a repeated withdrawal returns the first one, also when the balance is too small by then", async (t) => {
  const ann = await makeTrader({ cents: 500 });
  await move("withdraw", ann, 500, "all");
  t.is(await move("withdraw", ann, 500, "all"), 0);
});

test("a reference belongs to a user and a direction", async (t) => {
  const [ann, bob] = [await makeTrader({ cents: 0 }), await makeTrader({ cents: 0 })];
  await move("deposit", ann, 500, "one");
  t.is(await move("deposit", bob, 700, "one"), 700);
  t.is(await move("withdraw", ann, 500, "one"), 0);
});

test("ALREADY_EXISTS: the same reference with another amount", async (t) => {
  const ann = await makeTrader({ cents: 0 });
  await move("deposit", ann, 500, "one");
  await t.throwsAsync(move("deposit", ann, 501, "one"), { code: "EX018" });
  await move("withdraw", ann, 100, "out");
  await t.throwsAsync(move("withdraw", ann, 99, "out"), { code: "EX018" });
  t.is(await balance(ann), 400);
});

for (const kind of ["deposit", "withdraw"] as const) {
  test(`INVALID_REQUEST: ${kind} of zero or less, or without a reference`, async (t) => {
    const ann = await makeTrader({ cents: 500 });
    for (const [cents, reference] of [
      [0, "zero"],
      [-1, "less"],
      [null, "null"],
      [100, null],
      [100, ""],
      [100, " "],
      [100, "x".repeat(201)],
    ]) {
      await t.throwsAsync(move(kind, ann, cents, reference), { code: "EX001" });
    }
    t.is(await balance(ann), 500);
  });

  test(`NOT_FOUND: ${kind} of an unknown user`, async (t) => {
    await t.throwsAsync(move(kind, nobody, 100, "one"), { code: "EX017" });
  });
}

test("INSUFFICIENT_BALANCE: a withdrawal of more than the balance", async (t) => {
  const ann = await makeTrader({ cents: 500 });
  await t.throwsAsync(move("withdraw", ann, 501, "out"), { code: "EX011" });
  // Refused, it has left nothing: the reference is free.
  t.is(await move("withdraw", ann, 500, "out"), 0);
});

test.serial("the external account is the negative sum of all other accounts", async (t) => {
  const outside = async (): Promise<number> => {
    const rows = await exchange.query("select balance_cents as cents from ledger.outside_world");
    return rows[0].cents;
  };
  const before = await outside();
  const ann = await makeTrader({ cents: 500 });
  await move("withdraw", ann, 100, "out");
  t.is(await outside(), before - 400);
});
