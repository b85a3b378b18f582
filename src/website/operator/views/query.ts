import { eurosOf } from "../api/values.ts";
import type { Column, ColumnKind, Condition, View } from "./view.ts";

/** The questions for the rows of declared views, and what their values are called. */

/** A row of a view, by the names of GraphQL. */
export type Row = Record<string, unknown>;

/** A text of a row; empty where there is none. */
export function textIn(row: Row, field: string): string {
  const value = row[field];
  return typeof value === "string" ? value : "";
}

/** Rows of a page. */
export const PAGE_ROWS = 25;
/** Rows are counted so far, and no page is behind them. */
export const MOST_COUNTED = 10_000;
export const LAST_PAGE = MOST_COUNTED / PAGE_ROWS;
/** Rows of a question when all rows are asked for. */
export const FILE_ROWS = 500;

/** The fields that a question asks for, with the names of related rows. */
export function fieldsOf(columns: readonly Column[]): string {
  const fields = columns.flatMap(({ field, name }) => {
    if (name === undefined) return [field];
    const [relation, of] = name;
    return [field, relation === "self" ? of : `${relation} { ${of} }`];
  });
  return [...new Set(fields)].join(" ");
}

/** The name that a column shows instead of an id; undefined if there is none. */
export function nameOf({ name }: Column, row: Row): string | undefined {
  if (name === undefined) return undefined;
  const [relation, of] = name;
  const named = relation === "self" ? row : (row[relation] as Row | null);
  const value = named?.[of];
  return typeof value === "string" ? value : undefined;
}

function declared({ type }: View, condition: Condition | undefined): string {
  const filter = condition === undefined ? "" : `, $filter: ${type}Filter`;
  return `$first: Int!, $offset: Int, $after: Cursor, $orderBy: [${type}OrderBy!]${filter}`;
}

/** The question for a page of rows. */
export function rowsQuery(view: View, condition: Condition | undefined): string {
  const filter = condition === undefined ? "" : ", filter: $filter";
  return `query Rows(${declared(view, condition)}) {
    rows: ${view.list}(first: $first, offset: $offset, after: $after, orderBy: $orderBy${filter}) {
      nodes { ${fieldsOf(view.columns)} }
      pageInfo { hasNextPage endCursor }
    }
  }`;
}

/** The question for a field of the first row and of the one that comes so many rows later. */
export function endsQuery(
  { list, type }: Pick<View, "list" | "type">,
  condition: Condition | undefined,
  field: string,
): string {
  const [filter, used] =
    condition === undefined ? ["", ""] : [`, $filter: ${type}Filter`, ", filter: $filter"];
  const row = (offset: string): string =>
    `${list}(first: 1${offset}, orderBy: $orderBy${used}) { nodes { ${field} } }`;
  return `query Ends($offset: Int!, $orderBy: [${type}OrderBy!]${filter}) {
    first: ${row("")}
    last: ${row(", offset: $offset")}
  }`;
}

/** The question how many rows there are in all. */
export function totalQuery(
  { list, type }: Pick<View, "list" | "type">,
  condition: Condition | undefined,
): string {
  const [declared, used] =
    condition === undefined
      ? ["", "(first: 0)"]
      : [`($filter: ${type}Filter)`, "(first: 0, filter: $filter)"];
  return `query Total${declared} { rows: ${list}${used} { totalCount } }`;
}

/** The value of a column, with its sign; undefined if there is none. */
export function valueOf({ field, isOut }: Column, row: Row): unknown {
  const value = row[field] ?? undefined;
  return value !== undefined && isOut?.(row) === true ? String(-Number(value)) : value;
}

/** What a column is called in a file. With a name it is two columns there: the name and the id. */
export function headsOf({ label, kind, name }: Column): string[] {
  if (name !== undefined) return [label, `${label} ${kind === "order" ? "number" : "id"}`];
  const unit = kind === undefined ? undefined : units[kind];
  return [unit === undefined ? label : `${label} (${unit})`];
}

const units: Partial<Record<ColumnKind, string>> = {
  ...{ time: "UTC", cents: "EUR", price: "cents", bps: "%" },
};

/** Values as texts without decoration: ids in full, times as ISO 8601, amounts in euros. */
export function plainValues(column: Column, row: Row): string[] {
  const value = valueOf(column, row);
  const plain = value === undefined ? "" : plainOf(column.kind, value);
  return column.name === undefined ? [plain] : [nameOf(column, row) ?? "", plain];
}

function plainOf(kind: ColumnKind | undefined, value: unknown): string {
  if (kind === "cents") return eurosOf(value as string);
  return kind === "bps" ? (Number(value) / 100).toFixed(2) : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Users by their handles or addresses. */
export const usersQuery = `query Users($first: Int!, $names: [String!]) {
  users: allUsers(
    first: $first
    filter: { or: [{ handle: { in: $names } }, { email: { in: $names } }] }
  ) { nodes { userId handle email } }
}`;
