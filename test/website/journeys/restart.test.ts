import { fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import test from "ava";
import type { ExecutionContext } from "ava";
import { testService } from "../../helpers/http/test_service.ts";
import { until } from "../../helpers/until.ts";
import { arrive } from "../arrive.ts";
import { journey } from "../journey.ts";
import { buy, buyButton, fillTicket, makeOffered, sharesOf, statusesOf } from "../steps.ts";

/** The server is killed and started again while a browser uses it. */

const service = testService(test, { website: true, playMoneyCents: 100_000 });

interface ServingProcess {
  url: string;
  /** SIGKILL: nothing that it does is finished. */
  kill: () => Promise<void>;
}

/** A server process on the database of the tests. */
async function startServing(t: ExecutionContext, port = "0"): Promise<ServingProcess> {
  const file = resolve(import.meta.dirname, "../serving_process.ts");
  const child = fork(file, [service.database.connectionString, port]);
  const exited = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  t.teardown(kill);
  const first = await Promise.race([once(child, "message"), exited]);
  if (typeof first[0] !== "string") throw new Error(`The server ended with ${String(first[0])}`);
  return { url: first[0], kill };
}

/**
 * Lets orders wait in the database before they are written: for no lock, for which no call waits
 * longer than a moment. Returns how to let them go on.
 */
async function holdOrders(): Promise<() => Promise<void>> {
  const { pool } = service.database;
  await pool.query(`
    create schema held;
    create table held.orders ();
    grant usage on schema held to public;
    grant select on held.orders to public;
    insert into held.orders default values;
    create function held.wait() returns trigger language plpgsql as $$
    begin
      while exists (select from held.orders) loop
        perform pg_sleep(0.02);
      end loop;
      return null;
    end $$;
    create trigger waits before insert on trading.idempotency_keys
      for each statement execute function held.wait();
  `);
  return async () => {
    await pool.query("delete from held.orders");
    // Waits for the order.
    await pool.query("drop schema held cascade");
  };
}

const isOrderWaiting = async (): Promise<boolean> => {
  const { rows } = await service.database.pool.query(
    `select count(*)::int as waiting from pg_catalog.pg_stat_activity
     where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return rows[0].waiting > 0;
};

const ordersOf = async (userId: string): Promise<number> =>
  (await statusesOf(service, userId)).length;

journey(
  "a server killed in the middle of an order: the order is placed once",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it clear up?");
    const before = await startServing(t);
    const { page, userId } = await arrive(browser, service, { url: before.url });
    await page.goto(`/markets/${marketId}`);
    await page.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).waitFor();

    const release = await holdOrders();
    await buy(page, 60, 7);
    await until("the order waits in the database", isOrderWaiting);
    await before.kill();
    await page.getByText("No answer yet, trying again…").waitFor();
    // The database goes on with what the server had asked it for.
    await release();
    await until("the order is placed", async () => (await ordersOf(userId)) === 1);

    await startServing(t, new URL(before.url).port);
    await page.getByText("7 shares traded").waitFor();
    await page.getByText("YES · 7 shares").waitFor();
    await page.getByText("Connection lost").waitFor({ state: "detached" });
    t.is(await ordersOf(userId), 1);
    t.is(await sharesOf(service, userId), 7);
  },
);

journey(
  "a server killed before an order reached the database: it is placed then",
  async (t, browser) => {
    const { marketId } = await makeOffered(service, "Will it cloud over?");
    const before = await startServing(t);
    const { page, userId } = await arrive(browser, service, { url: before.url });
    await page.goto(`/markets/${marketId}`);
    await page.getByRole("button", { name: "Use 60 cents, an offer to sell YES" }).waitFor();
    await before.kill();
    await fillTicket(page, 60, 7);
    const problem = page.locator(".preview").getByText("The server gave no answer");
    await problem.waitFor();
    await buyButton(page).click();
    await page.getByText("No answer yet, trying again…").waitFor();
    await problem.waitFor({ state: "detached" });
    t.is(await ordersOf(userId), 0);
    await startServing(t, new URL(before.url).port);
    await page.getByText("7 shares traded").waitFor();
    t.is(await ordersOf(userId), 1);
    t.is(await sharesOf(service, userId), 7);
  },
);
