import test from "ava";
import type { RunningServer } from "../../src/server/start_server.ts";
import { bonusesOf, readBonuses } from "../../src/website/operator/api/bonus.ts";
import { commands } from "../../src/website/operator/commands/all.ts";
import { mutationOf } from "../../src/website/operator/commands/mutation.ts";
import { listenForStaff, staffAt } from "../helpers/http/staff_desk.ts";
import { testService } from "../helpers/http/test_service.ts";

/** Commands of staff with long lists, as the pages of staff send them. */

const service = testService(test, { playMoneyCents: 0 });
const { makeStaff } = staffAt(service, () => desk.url);
let desk: RunningServer;

test.serial.before("listen for staff", async () => {
  desk = await listenForStaff(service);
});
test.after.always("stop listening", async () => {
  await desk.close();
});

async function makeUsers(count: number): Promise<string[]> {
  const { rows } = await service.database.pool.query<{ id: string }>(
    `select admin.create_user('user-' || n || '@test.example', 'User', 'user-' || n) as id
     from generate_series(1, $1::int) as n`,
    [count],
  );
  return rows.map(({ id }) => id);
}

test.serial(
  "a bonus for 1,000 users from a CSV is paid by one command, once for each user",
  async (t) => {
    const { browser } = await makeStaff(["cash"]);
    const users = await makeUsers(1000);
    const csv = users.map((id, index) => `${id},${10_000 + index}.99`).join("\n");
    const read = readBonuses(`user_id,amount\n${csv}\n`);
    const { bonuses, issues } = bonusesOf(read.lines, new Map());
    t.deepEqual([bonuses.length, read.issues, issues], [1000, [], []]);
    const give = () =>
      browser.call("POST", "/admin/graphql", {
        body: {
          query: mutationOf(commands.giveBonus),
          variables: { input: { name: "autumn", users: bonuses } },
        },
      });
    t.like((await give()).body, { data: { answer: { result: 1000 } } });
    t.like((await give()).body, { data: { answer: { result: 0 } } });
    const { rows } = await service.database.pool.query(
      `select count(*)::int as users, sum(balance_cents)::bigint::text as cents
     from trading.traders where public_id = any ($1)`,
      [users],
    );
    // 1,000 x 10,000.99 euros, and 0 + 1 + ... + 999 euros.
    t.deepEqual(rows, [{ users: 1000, cents: String(1000 * 1_000_099 + 49_950_000) }]);
    t.deepEqual(readBonuses(`${csv}\n0193d0a0-0000-7000-8000-000000000001,1`).issues, [
      "The list has 1001 users: paste at most 1000 at once.",
    ]);
  },
);

test.serial("only a mutation has long variables, and a body ends at 1 MiB", async (t) => {
  const { browser } = await makeStaff(["cash"]);
  const send = (query: string, text: string) =>
    browser.call("POST", "/admin/graphql", { body: { query, variables: { text } } });
  const long = await send("{ __typename }", "x".repeat(20_000));
  t.is(long.status, 400);
  t.regex(JSON.stringify(long.body), /16384 characters/);
  const mutation = mutationOf(commands.runDue);
  const longer = await send(mutation, "x".repeat(1_000_000));
  t.regex(JSON.stringify(longer.body), /1000000 characters/);
  const longest = await send(mutation, "x".repeat(1024 * 1024));
  t.deepEqual([longest.status, longest.body], [413, { error: "The body is larger than 1 MiB" }]);
});
