import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import { makeMember } from "../helpers/http/visitor.ts";

/** GET /api/account/value: an account at the end of each day. */

const service = testService(test, { playMoneyCents: 100_000 });
const DAY_MS = 86_400_000;

test.serial("a user sees days that are over, from the first one of the account", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze("2030-01-05T12:00Z");
  const { visitor } = await makeMember(service);
  const value = (query = "") => visitor.call("GET", `/api/account/value${query}`);
  t.deepEqual((await value()).body, { data: [] });
  await clock.freeze("2030-01-07T00:10Z");
  const valueSome = "select jobs.value_accounts() as done";
  while ((await service.worker.query(valueSome)).rows[0].done > 0);
  const rows = ["2030-01-05", "2030-01-06"].map((day) => ({
    ...{ day, balanceCents: 100_000, exitCents: 0, depositsCents: 100_000 },
  }));
  t.deepEqual((await value()).body, { data: rows });
  t.deepEqual((await value("?from=2030-01-06&to=2031-01-06")).body, { data: rows.slice(1) });
  t.deepEqual((await value("?to=2030-01-05")).body, { data: rows.slice(0, 1) });
  await clock.advance(DAY_MS);
  t.is((await value()).body.data.length, 2, "the job has not run");
});

test.serial(
  "400 INVALID_REQUEST: a range that is none, is too long, or has other days",
  async (t) => {
    const { visitor } = await makeMember(service);
    for (const query of [
      "from=2030-01-02&to=2030-01-01",
      "from=2030-01-01&to=2031-01-02",
      "from=2030-02-30",
      "from=0000-01-01",
      "to=2030-01-01T00:00:00Z",
      "to=infinity",
    ]) {
      const { status, body } = await visitor.call("GET", `/api/account/value?${query}`);
      t.deepEqual([status, body.code], [400, "INVALID_REQUEST"], query);
    }
  },
);
