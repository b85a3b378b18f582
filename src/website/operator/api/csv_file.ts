import type { Result } from "../../api/result.ts";
import { csvLine } from "../../csv.ts";
import { FILE_ROWS, headsOf, plainValues, rowsQuery, totalQuery } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import type { Condition, View } from "../views/view.ts";
import type { Ask } from "./ask.ts";

/** All rows of a list, as a file for spreadsheets. */

/** Further pages, for rows that come while the file is read. */
const LATER_PAGES = 20;

/** Which rows. */
export interface Chosen {
  view: View;
  condition: Condition | undefined;
  order: string;
}

interface Total {
  rows: { totalCount: number };
}

interface Rows {
  nodes: Row[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/**
 * All rows as lines, one page after the other. Says after each how many there are. Rows may come or
 * go meanwhile: a number that is not between those before and after is an error.
 */
export async function readCsvFile(
  ask: Ask,
  { view, condition, order }: Chosen,
  onRows: (count: number) => void,
): Promise<Result<string[]>> {
  const filter = condition && { filter: condition };
  const total = totalQuery(view, condition);
  const before = await ask<Total>(total, filter);
  if (!before.ok) return before;
  const query = rowsQuery(view, condition);
  const lines = [csvLine(view.columns.flatMap(headsOf))];
  const countBefore = before.data.rows.totalCount;
  const mostPages = Math.ceil(countBefore / FILE_ROWS) + LATER_PAGES;
  let page: Rows["pageInfo"] = { hasNextPage: true, endCursor: null };
  for (let pages = 0; page.hasNextPage && pages < mostPages; pages++) {
    const variables = { first: FILE_ROWS, after: page.endCursor, orderBy: [order], ...filter };
    const result = await ask<{ rows: Rows }>(query, variables);
    if (!result.ok) return result;
    const { nodes, pageInfo } = result.data.rows;
    for (const row of nodes) {
      lines.push(csvLine(view.columns.flatMap((column) => plainValues(column, row))));
    }
    onRows(lines.length - 1);
    page = pageInfo;
  }
  const count = lines.length - 1;
  const isEnd = !page.hasNextPage;
  if (isEnd && count === countBefore) return { ok: true, data: lines };
  const now = await ask<Total>(total, filter);
  if (!now.ok) return now;
  const countNow = now.data.rows.totalCount;
  const isBetween =
    Math.min(countBefore, countNow) <= count && count <= Math.max(countBefore, countNow);
  if (isEnd && isBetween) return { ok: true, data: lines };
  const error =
    `The list has ${countNow} rows, but ${count} came. ` +
    "Nothing was saved: try again, or filter the list";
  return { ok: false, problem: { status: 200, error } };
}
