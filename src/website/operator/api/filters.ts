import type { Result } from "../../api/result.ts";
import { LAST_PAGE, textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import type { Column, Condition, Filter, View } from "../views/view.ts";
import { firstIdAt, isDay, isUuid, timeOf } from "./values.ts";

/** What a list shows, as its address says it. */

/** The part of the address that is about one list of several on a page. */
export function nameIn(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

export interface ListState {
  /** From 1. */
  page: number;
  order: string;
  /** What stands in the fields of the filters. */
  typed: Record<string, string>;
}

/** Reads which page of which rows the address asks for. What it has wrong counts as absent. */
export function stateOf(view: View, query: URLSearchParams, prefix = ""): ListState {
  const read = (name: string): string => query.get(nameIn(prefix, name)) ?? "";
  const page = Number(read("page"));
  const order = read("sort");
  return {
    page: Number.isInteger(page) && page >= 1 && page <= LAST_PAGE ? page : 1,
    order: orderNames(view).includes(order) ? order : view.order,
    typed: Object.fromEntries(view.filters.map(({ name }) => [name, read(name)])),
  };
}

/** The changes of the address that show such rows, from their first page on. */
export function queryOf(
  view: View,
  typed: Record<string, string>,
  prefix = "",
): Record<string, string | undefined> {
  const changes: Record<string, string | undefined> = { [nameIn(prefix, "page")]: undefined };
  for (const { name } of view.filters) changes[nameIn(prefix, name)] = typed[name]?.trim();
  return changes;
}

function constantCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** The name of an order by a column. */
export function orderBy(field: string, isDescending: boolean): string {
  return `${constantCase(field)}_${isDescending ? "DESC" : "ASC"}`;
}

/** The same column, the other way round. */
function reverseOf(order: string): string {
  return order.endsWith("_DESC") ? order.replace(/DESC$/, "ASC") : order.replace(/ASC$/, "DESC");
}

/** Whether an index has the order, so that no list is too long for it. */
export function isIndexed({ order: usual }: View, order: string): boolean {
  return order === usual || order === reverseOf(usual);
}

/** Whether a list can be ordered by a column. One that is not short keeps to its index. */
export function isSortable(
  view: View,
  { field, isSorted = false }: Column,
  isShort: boolean,
): boolean {
  return isIndexed(view, orderBy(field, true)) || (isSorted && isShort);
}

function orderNames(view: View): string[] {
  const sorted = view.columns.filter((column) => isSortable(view, column, true));
  const ofColumns = sorted.flatMap(({ field }) => [orderBy(field, true), orderBy(field, false)]);
  return [view.order, ...ofColumns];
}

/** The conditions of what is typed and of the page itself, for GraphQL; undefined for none. */
export function conditionOf(
  view: View,
  typed: Record<string, string>,
  where?: Condition,
): Condition | undefined {
  const conditions = view.filters.flatMap((filter) => {
    const text = typed[filter.name]?.trim() ?? "";
    return text === "" ? [] : [oneCondition(filter, text)];
  });
  if (where !== undefined) conditions.unshift(where);
  return conditions.length === 0 ? undefined : { and: conditions };
}

/** What is wrong with what is typed, where no row can be told to fit it or not. */
export function faultOf(filter: Filter, typed: string): string | undefined {
  const text = typed.trim();
  if (text === "") return undefined;
  if (filter.kind === "day") return isDay(text) ? undefined : "Give a day like 2030-12-31.";
  return isOfId(filter) && !isUuid(text) ? "This is no id." : undefined;
}

/** Whether nothing but a whole id fits a filter. */
function isOfId({ kind, field }: Filter): boolean {
  return (
    kind === "uuid" || (kind === "search" && [field].flat().every((one) => one.endsWith("Id")))
  );
}

/** Whether a filter is about users, who are known by other names than their ids, too. */
function isOfUser(filter: Filter): boolean {
  return isOfId(filter) && [filter.field].flat().every((one) => /(^u|U)serId$/.test(one));
}

const NO_USER = "There is no such user: give an id, a handle or an e-mail address.";

/** What is typed, with the ids of users in place of their other names, and what names nobody. */
export interface Identified {
  typed: Record<string, string>;
  issues: Record<string, string>;
}

/** Finds the users that filters name by a handle or an address. */
export async function identified(
  { filters }: View,
  typed: Record<string, string>,
  askForUser: (name: string) => Promise<Result<Row | undefined>>,
): Promise<Result<Identified>> {
  const found: Identified = { typed: { ...typed }, issues: {} };
  for (const filter of filters) {
    const text = typed[filter.name]?.trim() ?? "";
    if (text === "" || !isOfUser(filter) || isUuid(text)) continue;
    const user = await askForUser(text);
    if (!user.ok) return user;
    if (user.data === undefined) found.issues[filter.name] = NO_USER;
    else found.typed[filter.name] = textIn(user.data, "userId");
  }
  return { ok: true, data: found };
}

/** A condition that no row meets: what is typed cannot be a value of the column. */
function nothing(field: string): Condition {
  return { and: [{ [field]: { isNull: true } }, { [field]: { isNull: false } }] };
}

function oneCondition({ kind, field, options, id }: Filter, text: string): Condition {
  const fields = typeof field === "string" ? [field] : field;
  const [first = ""] = fields;
  const is = (operator: string, value: unknown): Condition => ({ [first]: { [operator]: value } });
  switch (kind) {
    case "contains":
      // As tables show the end of an id.
      return is("includesInsensitive", text.replace(/^…/, ""));
    case "keyPrefix":
      return is("startsWith", text.slice(0, 9));
    case "search":
      return { or: fields.map((one) => searched(one, text)) };
    case "equals":
      return is("equalTo", text);
    case "day":
      return isDay(text) ? is("equalTo", text) : nothing(first);
    case "uuid":
      return isUuid(text) ? is("equalTo", text) : nothing(first);
    case "choice": {
      const option = options?.find(([value]) => value === text);
      return option === undefined ? nothing(first) : (option[2] ?? is("equalTo", text));
    }
    case "key":
      return /^-?\d{1,18}$/.test(text) ? is("equalTo", text) : nothing(first);
    case "flag":
      return is("equalTo", text === "yes");
    case "isSome":
      return is(text === "yes" ? "notEqualTo" : "equalTo", "0");
    case "isSet":
      return is("isNull", text !== "yes");
    case "from":
    case "until": {
      const time = timeOf(text);
      if (time === undefined) return nothing(first);
      const isFrom = kind === "from";
      const operator = isFrom ? "greaterThanOrEqualTo" : "lessThan";
      const near = firstIdAt(Date.parse(time) + (isFrom ? -ID_TIME_MS : ID_TIME_MS));
      return { ...is(operator, time), ...(id !== undefined && { [id]: { [operator]: near } }) };
    }
  }
}

/** The times of a row and of its id are no further apart: ledger.verify() compares them. */
const ID_TIME_MS = 3_600_000;

/** An id is searched for as a whole, a text by a part of it. */
function searched(field: string, text: string): Condition {
  if (!field.endsWith("Id")) return { [field]: { includesInsensitive: text } };
  return isUuid(text) ? { [field]: { equalTo: text } } : nothing(field);
}
