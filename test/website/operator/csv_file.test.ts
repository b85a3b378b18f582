import test from "ava";
import { makeEngine } from "../../../src/graphql/execution.ts";
import type { GraphqlEngine } from "../../../src/graphql/execution.ts";
import type { Ask } from "../../../src/website/operator/api/ask.ts";
import { readCsvFile } from "../../../src/website/operator/api/csv_file.ts";
import { orderBy } from "../../../src/website/operator/api/filters.ts";
import { views } from "../../../src/website/operator/views/all.ts";
import { FILE_ROWS } from "../../../src/website/operator/views/query.ts";
import type { View } from "../../../src/website/operator/views/view.ts";
import { standInForViews } from "../../helpers/database/stand_ins.ts";
import { testDatabase } from "../../helpers/database/test_database.ts";
import { randomFrom } from "../../helpers/random.ts";

/** "CSV" on the pages of staff saves each row once, or nothing. */

const database = testDatabase(test);
const { anyOf } = randomFrom("csv files");

const askBy =
  (engine: GraphqlEngine): Ask =>
  async (query, variables) => {
    const { data, errors } = await engine.execute({ query, variables }, { timezone: "UTC" });
    if (errors !== undefined) throw errors[0]!;
    return { ok: true, data: data as any };
  };

/** An order in which the page can show the list; more often than any other the usual one. */
function someOrder({ columns, order }: View): string {
  const sorted = columns.filter(({ isSorted }) => isSorted === true);
  const chosen = sorted.flatMap(({ field }) => [orderBy(field, true), orderBy(field, false)]);
  return chosen.length === 0 ? order : anyOf([order, anyOf(chosen)]);
}

test("the file of every list has each row once", async (t) => {
  await standInForViews(database.pool, "admin", FILE_ROWS + 1);
  const pool = database.connectAs("exchange_operator");
  const ask = askBy(await makeEngine({ pool, schema: "admin", mutations: true }));
  const askAtOnce: Ask = (query, variables) =>
    ask(query, variables && { ...variables, first: 2 * FILE_ROWS });
  for (const [name, view] of Object.entries(views)) {
    const chosen = { view, condition: undefined, order: someOrder(view) };
    const file = await readCsvFile(ask, chosen, () => undefined);
    const atOnce = await readCsvFile(askAtOnce, chosen, () => undefined);
    t.deepEqual(file, atOnce, `${name} by ${chosen.order}`);
    t.true(atOnce.ok, name);
  }
});

/** A list that has so many rows at first and later, with pages of so many. */
function listOf(totals: [before: number, after: number], pages: number[]): Ask {
  const left = [...totals];
  return (query, variables) => {
    const page = Number(variables?.after ?? 0);
    const rows = query.includes("totalCount")
      ? { totalCount: left.shift() }
      : {
          nodes: Array.from({ length: pages[page]! }, () => ({ kind: "cash" })),
          pageInfo: { hasNextPage: page < pages.length - 1, endCursor: String(page + 1) },
        };
    return Promise.resolve({ ok: true, data: { rows } as any });
  };
}

async function readList(totals: [before: number, after: number], pages: number[]) {
  const counts: number[] = [];
  const chosen = { view: views.cashCaps, condition: undefined, order: views.cashCaps.order };
  const file = await readCsvFile(listOf(totals, pages), chosen, (count) => counts.push(count));
  return { file, counts };
}

test("rows may come or go while a file is read", async (t) => {
  const cases: [totals: [number, number], pages: number[]][] = [
    [
      [700, 700],
      [500, 200],
    ],
    [
      [700, 900],
      [500, 200],
    ],
    [
      [700, 900],
      [500, 400],
    ],
    [
      [700, 600],
      [500, 150],
    ],
    [[0, 0], [0]],
  ];
  for (const [totals, pages] of cases) {
    const { file, counts } = await readList(totals, pages);
    const count = pages.reduce((sum, rows) => sum + rows);
    t.is(file.ok && file.data.length, 1 + count, totals.join());
    t.is(counts.at(-1), count);
  }
});

test("no file with rows that are lost or come again, or without an end", async (t) => {
  const cases: [count: number, pages: number[]][] = [
    [699, [500, 199]],
    [701, [500, 201]],
    [11_000, Array<number>(100).fill(500)],
  ];
  for (const [count, pages] of cases) {
    const { file } = await readList([700, 700], pages);
    const error =
      `The list has 700 rows, but ${count} came. ` +
      "Nothing was saved: try again, or filter the list";
    t.deepEqual(file, { ok: false, problem: { status: 200, error } });
  }
});
