import { timeNow } from "../../api/server_time.ts";
import type { Result } from "../../api/result.ts";
import { endsQuery, MOST_COUNTED, PAGE_ROWS, rowsQuery, totalQuery } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import type { Condition, Keys, View } from "../views/view.ts";
import type { Ask } from "./ask.ts";
import { isIndexed } from "./filters.ts";

/** Pages of lists and their totals, in a time that does not grow with the list. */

/** How many rows there are; of a long list that there are more than are counted. */
export interface Total {
  count: number;
  isMore: boolean;
}

/** Whether a list may be ordered by any column: to order a long one would read all of it. */
export function isShort(total: Total | undefined): boolean {
  return total?.isMore === false;
}

/**
 * The rows of a page. A long list keeps its usual order, unless an index has the other one. Of a list
 * by day the last days are asked for first, until they fill the page: older ones come after them.
 */
export async function readPage(
  ask: Ask,
  view: View,
  condition: Condition | undefined,
  { page, order: wanted }: { page: number; order: string },
  now = timeNow(),
): Promise<Result<Row[]>> {
  let order = wanted;
  if (!isIndexed(view, wanted)) {
    const total = await readTotal(ask, view, condition);
    if (!total.ok) return total;
    if (!isShort(total.data)) order = view.order;
  }
  const offset = (page - 1) * PAGE_ROWS;
  let filter = condition;
  const keys = isIndexed(view, order) ? keysOf(view, condition) : undefined;
  if (keys !== undefined) {
    const place = { rows: offset + PAGE_ROWS, order };
    const ends = await readEnds(ask, keys, condition, place, keys.field);
    if (!ends.ok) return ends;
    if (ends.data.first === undefined) return { ok: true, data: [] };
    filter = and(condition, within(keys, order, ends.data));
  }
  const readRows = async (only: Condition | undefined): Promise<Result<Row[]>> => {
    const variables = { first: PAGE_ROWS, offset, orderBy: [order], ...(only && { filter: only }) };
    const result = await ask<{ rows: { nodes: Row[] } }>(rowsQuery(view, only), variables);
    return result.ok ? { ok: true, data: result.data.rows.nodes } : result;
  };
  if (view.day !== undefined && order === view.order && !fieldsIn(condition).includes(view.day)) {
    for (const days of [1, 4, 16]) {
      const since = new Date(now - (days - 1) * DAY_MS).toISOString().slice(0, 10);
      const last = await readRows(and(condition, { [view.day]: { greaterThanOrEqualTo: since } }));
      if (!last.ok || last.data.length === PAGE_ROWS) return last;
    }
  }
  return await readRows(filter);
}

const DAY_MS = 86_400_000;

function and(condition: Condition | undefined, other: Condition): Condition {
  return { and: [...(condition ? [condition] : []), other] };
}

/** Rows with these keys and with those between them. */
function within({ field }: Keys, order: string, { first, last }: Ends): Condition {
  const [begin, end] = order.endsWith("_DESC")
    ? ["lessThanOrEqualTo", "greaterThanOrEqualTo"]
    : ["greaterThanOrEqualTo", "lessThanOrEqualTo"];
  return { [field]: { [begin]: first, ...(last !== undefined && { [end]: last }) } };
}

/** How many rows there are. It is asked by itself: to count may take longer than to list. */
export async function readTotal(
  ask: Ask,
  view: View,
  condition: Condition | undefined,
): Promise<Result<Total>> {
  const counted = keysOf(view, condition) ?? view;
  const place = { rows: MOST_COUNTED + 1, order: view.order };
  const ends = await readEnds(ask, counted, condition, place, "__typename");
  if (!ends.ok) return ends;
  const { first, last } = ends.data;
  if (first === undefined) return { ok: true, data: { count: 0, isMore: false } };
  if (last !== undefined) return { ok: true, data: { count: MOST_COUNTED, isMore: true } };
  const variables = condition === undefined ? {} : { filter: condition };
  const result = await ask<{ rows: { totalCount: number } }>(
    totalQuery(view, condition),
    variables,
  );
  if (!result.ok) return result;
  const count = result.data.rows.totalCount;
  return { ok: true, data: { count: Math.min(count, MOST_COUNTED), isMore: count > MOST_COUNTED } };
}

/** The keys of a view, if they have what the condition is about. */
function keysOf({ keys }: View, condition: Condition | undefined): Keys | undefined {
  return fieldsIn(condition).every((field) => keys?.shared.includes(field)) ? keys : undefined;
}

/** What a condition is about. */
function fieldsIn(condition: unknown = {}): string[] {
  return Array.isArray(condition)
    ? condition.flatMap((one) => fieldsIn(one))
    : Object.entries(condition as Condition).flatMap(([name, inner]) =>
        name === "and" || name === "or" ? fieldsIn(inner) : [name],
      );
}

interface Place {
  /** How many rows come first, the one of the place included. */
  rows: number;
  order: string;
}

/** What a row has at the begin and at the place; undefined where there is no row. */
interface Ends {
  first: unknown;
  last: unknown;
}

/** A field of the first row, and of the one at a place. */
async function readEnds(
  ask: Ask,
  list: Pick<View, "list" | "type">,
  condition: Condition | undefined,
  { rows, order }: Place,
  field: string,
): Promise<Result<Ends>> {
  const variables = {
    ...{ offset: rows - 1, orderBy: [order] },
    ...(condition && { filter: condition }),
  };
  const result = await ask<Record<"first" | "last", { nodes: Row[] }>>(
    endsQuery(list, condition, field),
    variables,
  );
  if (!result.ok) return result;
  const { first, last } = result.data;
  return { ok: true, data: { first: first.nodes[0]?.[field], last: last.nodes[0]?.[field] } };
}
