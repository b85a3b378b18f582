import test from "ava";
import { call } from "../../../src/database/call.ts";
import { jobs } from "../../../src/database/calls.ts";
import { testExchange } from "../../helpers/exchange/test_exchange.ts";

/** jobs.take_mail: which mail is sent next. */

const exchange = testExchange(test);
const { operate } = exchange;

test.serial("a mail that another worker has locked is passed over, not waited for", async (t) => {
  await operate("invite_user", { email: "first@mails.example" });
  await operate("invite_user", { email: "second@mails.example" });
  const workers = exchange.database.connectAs("exchange_worker");
  const [one, other] = [await workers.connect(), await workers.connect()];
  try {
    await one.query("begin");
    t.is((await call(one, jobs.takeMail, {}))?.address, "first@mails.example");
    await other.query("set lock_timeout = '1 s'");
    t.is((await call(other, jobs.takeMail, {}))?.address, "second@mails.example");
    t.is(await call(other, jobs.takeMail, {}), undefined);
    await one.query("rollback");
    t.is((await call(other, jobs.takeMail, {}))?.address, "first@mails.example");
  } finally {
    await other.query("reset lock_timeout");
    one.release();
    other.release();
  }
});
