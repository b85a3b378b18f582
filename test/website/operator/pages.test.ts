import test from "ava";
import type { Ask } from "../../../src/website/operator/api/ask.ts";
import { readPage, readTotal } from "../../../src/website/operator/api/pages.ts";
import { views } from "../../../src/website/operator/views/all.ts";
import { readText } from "../../helpers/repository.ts";

/** What the pages of staff ask for a list of so many rows. */

interface Asked {
  ask: Ask;
  orders: unknown[];
}

function listOf(count: number): Asked {
  const orders: unknown[] = [];
  const row = (isThere: boolean) => ({ nodes: isThere ? [{ __typename: "Order" }] : [] });
  const ask: Ask = (query, variables) => {
    const data = query.includes("query Ends")
      ? { first: row(count > 0), last: row(Number(variables?.offset) < count) }
      : query.includes("totalCount")
        ? { rows: { totalCount: count } }
        : (orders.push(variables?.orderBy), { rows: { nodes: [] } });
    return Promise.resolve({ ok: true, data: data as any });
  };
  return { ask, orders };
}

test("an event is made live on its page, which knows whether it is", (t) => {
  const page = (name: string) => readText(`src/website/operator/pages/${name}.tsx`);
  t.notRegex(page("incidents"), /commands\.setEventLive/);
  t.regex(page("incidents"), /href="\/operator\/events\?live=yes"/);
  t.regex(page("event"), /commands\.setEventLive\}\s+given=\{given\}\s+initial=/);
});

test("up to 10,000 rows are counted", async (t) => {
  for (const [count, total] of [
    [0, { count: 0, isMore: false }],
    [1, { count: 1, isMore: false }],
    [10_000, { count: 10_000, isMore: false }],
    [10_001, { count: 10_000, isMore: true }],
  ] as const) {
    const found = await readTotal(listOf(count).ask, views.orders, undefined);
    t.deepEqual(found, { ok: true, data: total });
  }
});

test("a list that is counted is ordered as the address says, a longer one by its key", async (t) => {
  for (const [count, wanted, order] of [
    [10_000, "CREATED_AT_ASC", "CREATED_AT_ASC"],
    [10_001, "CREATED_AT_ASC", "ORDER_KEY_DESC"],
    [10_001, "ORDER_KEY_ASC", "ORDER_KEY_ASC"],
  ] as const) {
    const { ask, orders } = listOf(count);
    t.true((await readPage(ask, views.orders, undefined, { page: 1, order: wanted })).ok);
    t.deepEqual(orders, [[order]]);
  }
});
