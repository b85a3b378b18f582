/** How a view of schema admin is shown as a list. */

/** How a value is shown, and where it leads. */
export type ColumnKind =
  | "text"
  | "time"
  | "cents"
  | "price"
  | "count"
  | "flag"
  | "json"
  | "list"
  | "bps"
  | "key"
  | "id"
  | "user"
  | "market"
  | "event"
  | "order"
  | "trade"
  | "journal"
  | "proposal"
  | "member"
  | "health"
  | "pair";

export interface Column {
  /** As GraphQL names it. */
  field: string;
  label: string;
  kind?: ColumnKind;
  /**
   * The field of the related row, and in that its name, to be shown instead of an id; "self" is the
   * row of the list itself.
   */
  name?: readonly [relation: string, field: string];
  /** Whether a list that is short can be ordered by it, too. */
  isSorted?: boolean;
  /** What a row says that has no value, where that means something. */
  ifNone?: (row: Readonly<Record<string, unknown>>) => string | undefined;
  /** What a row says instead of its value. */
  instead?: (row: Readonly<Record<string, unknown>>) => string | undefined;
  /** Rows whose amount went out: it is shown below zero, though the view has it above. */
  isOut?: (row: Readonly<Record<string, unknown>>) => boolean;
}

/** What a filter does with the value that is typed. */
export type FilterKind =
  | "contains"
  | "keyPrefix"
  | "search"
  | "equals"
  | "day"
  | "uuid"
  | "choice"
  | "key"
  | "isSet"
  | "isSome"
  | "flag"
  | "from"
  | "until";

export interface Filter {
  /** As the address names it. */
  name: string;
  label: string;
  kind: FilterKind;
  /** The field that it is about; of `search`, the fields of which one has the text. */
  field: string | readonly string[];
  options?: readonly FilterOption[];
  /** Of a time: the id of the row, which begins with a time near it and has an index. */
  id?: string;
}

/** One without a condition stands for rows whose field has the value. */
export type FilterOption = readonly [value: string, label: string, condition?: Condition];

export interface View {
  /** Of the list, for headings and files. */
  title: string;
  /** The field of the query, such as allMarkets. */
  list: string;
  /** The type of its rows, such as Market. */
  type: string;
  columns: readonly Column[];
  filters: readonly Filter[];
  /** As GraphQL names it: the newest first, for example. An index has it, in both directions. */
  order: string;
  /** Where the list is made of many tables, and no index has its order. */
  keys?: Keys;
  /** The day, where the list goes from day to day and its rows are made of what happened on each. */
  day?: string;
  /** What a list without rows says. */
  empty: string;
}

/** The list of the keys by which another list is ordered. Each of them has a row there at least. */
export interface Keys {
  list: string;
  type: string;
  /** The key, in both lists. */
  field: string;
  /** Fields that both have with the same values. */
  shared: readonly string[];
}

/** A condition of GraphQL's filters. */
export type Condition = Record<string, unknown>;
