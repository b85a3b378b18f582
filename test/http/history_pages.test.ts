import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";
import { randomFrom } from "../helpers/random.ts";

/** Pages of history, fills and statement that are read while the user trades. */

const service = testService(test);
const { call, makeMarket, makeTrader, operate } = service;

const MONTH_MS = 31 * 24 * 3_600_000;
const idsOf = (rows: { id: unknown }[]): unknown[] => rows.map(({ id }) => id);

async function page({ key }: Trader, list: string, query: string): Promise<any> {
  const { body, status } = await call("GET", `/api/v1/me/${list}?${query}`, { key });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

async function send({ key }: Trader, method: string, path: string, body?: object): Promise<any> {
  const answer = await call(method, `/api/v1/orders${path}`, { key, ...(body && { body }) });
  if (answer.status > 201) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

for (const list of ["order-history", "fills", "statement"]) {
  for (const limit of [1, 3]) {
    test.serial(`${list} by ${limit}: each row once, while orders come and go`, async (t) => {
      const random = randomFrom(`${list} ${limit}`);
      const marketId = await makeMarket();
      const [ann, bob] = [await makeTrader(), await makeTrader()];
      const place = async (trader: Trader, side: "yes" | "no", price: number, quantity = 3) => {
        const body = { marketId, side, price, quantity };
        return (await send(trader, "POST", "", body)).order.id as string;
      };
      /** What changes the lists: a fill, an amendment, a cancel, an order that rests, a deposit. */
      const change = async (resting: string[]) => {
        const price = random.between(40, 44);
        const filled = await place(ann, "yes", 50);
        await place(bob, "no", 50, random.between(1, 3));
        await send(ann, "PATCH", `/${resting.shift()!}`, { price });
        await send(ann, "DELETE", `/${resting.shift()!}`);
        resting.push(await place(ann, "yes", 30), await place(ann, "yes", 31));
        await operate("deposit", { user_id: ann.userId, amount_cents: 1, reference: filled });
      };
      const resting = [await place(ann, "yes", 20), await place(ann, "yes", 21)];
      for (let turn = 0; turn < 8; turn++) await change(resting);
      const before = idsOf((await page(ann, list, "limit=200")).data);
      t.true(before.length >= 8);

      const seen: unknown[] = [];
      let archived = 0;
      for (let cursor = "", count = 0; ; count++) {
        // The page is read while things change, and they have changed before the next one.
        const [{ data, nextCursor }] = await Promise.all([
          page(ann, list, `limit=${limit}${cursor}`),
          change(resting),
        ]);
        seen.push(...idsOf(data));
        if (nextCursor === null) break;
        cursor = `&cursor=${nextCursor}`;
        if (count > 0) continue;
        // It stays there: what is archived goes by it.
        await testClock(service.database.pool).advance(MONTH_MS);
        const { rows } = await service.database.pool.query("select admin.run_due() as done");
        archived = rows[0].done.archived;
      }
      t.true(archived > 0, "orders went to the archive meanwhile");
      t.is(new Set(seen).size, seen.length, "no row twice");
      const known = new Set(before);
      t.deepEqual(
        seen.filter((id) => known.has(id)),
        before,
        "all rows that were there, in their order",
      );
      const { rows } = await service.database.pool.query("select * from ledger.verify()");
      t.deepEqual(rows, []);
    });
  }
}
