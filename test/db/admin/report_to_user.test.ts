import test from "ava";
import { callBy, makeStaff } from "../../helpers/exchange/staff.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** A user hears by mail what a member of staff did with the account. */

const exchange = testExchange(test);
const { makeTrader, operate } = exchange;

const kinds = async (userId: string): Promise<string[]> => {
  const rows = await exchange.query(
    `select m.kind from identity.mails as m join identity.users as u on u.id = m.user_id
     where u.public_id = $1 order by m.id`,
    [userId],
  );
  return rows.map(({ kind }) => kind);
};

test.serial("keys, sessions and limits by a member of staff are reported", async (t) => {
  const operators = exchange.database.connectAs("exchange_operator");
  const { cookieHash } = await makeStaff(exchange, ["users"]);
  const user_id = await makeTrader();
  const byStaff = (name: string, values: object) =>
    callBy(operators, cookieHash, name, { ...values });
  const limits = { user_id, day_cents: null, week_cents: null, month_cents: 500 };
  t.deepEqual(await kinds(user_id), []);
  await byStaff("create_api_key", { user_id, name: "of support" });
  const [key] = await exchange.query(
    "select public_id from identity.api_keys order by id desc limit 1",
  );
  await byStaff("rotate_api_key", { key_id: key.public_id });
  await byStaff("create_session", { user_id });
  await byStaff("set_loss_limits", limits);
  t.deepEqual(await kinds(user_id), ["new_key", "new_key", "new_sign_in", "limits_changed"]);
});

test.serial("what a program of the operator does is not", async (t) => {
  const user_id = await makeTrader();
  await operate("create_api_key", { user_id, name: "asked for on a website" });
  await operate("create_session", { user_id });
  await operate("set_loss_limits", { user_id, day_cents: 5, week_cents: 5, month_cents: 5 });
  t.deepEqual(await kinds(user_id), []);
});
