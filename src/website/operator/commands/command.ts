import { snakeCase } from "../api/values.ts";
import type { Column, View } from "../views/view.ts";
import type { Role } from "./roles.ts";

/** How a function of schema admin is called by a form. */

export type FieldKind =
  | "text"
  | "long"
  | "cents"
  | "number"
  /** A percentage, of which hundredths are sent. */
  | "percent"
  | "time"
  | "choice"
  | "uuid"
  /** An id, a handle or an e-mail address, of which the form makes an id. */
  | "user"
  | "flag"
  | "list"
  | "days"
  | "day"
  | "json"
  /** Objects as JSON or CSV. */
  | "entries";

export interface CommandField {
  /** As GraphQL names the argument. */
  argument: string;
  label: string;
  kind: FieldKind;
  hint?: string;
  /** Without it, an empty field is not sent. */
  isRequired?: boolean;
  /** The value of another field with which it is required, too, and what is said if it is empty. */
  neededIf?: { argument: string; is: string; words: string };
  /** An empty field is sent as null: the function has no default for it. */
  isNullable?: boolean;
  /** Of an amount: whether it must be above zero. */
  isPositive?: boolean;
  /** What is sent when it is emptied, in a form of what is set already. Without it, that is refused. */
  emptied?: Arguments;
  /** Of a choice between true and false. */
  isBoolean?: boolean;
  options?: readonly (readonly [value: string, label: string])[];
  /** What the field has first. */
  initial?: string;
}

/** What a function returns: nothing, a value, rows, a file, or something that is shown only once. */
export type Returns = "nothing" | "value" | "cents" | "rows" | "file" | "secret";

/** The texts of fields, by their arguments. */
export type Fields = Readonly<Record<string, string>>;

/** Where that is which a command sets. */
export interface Setting {
  view: View;
  /** The argument that chooses the row; without it there is only one. */
  by?: string;
}

export interface Command {
  /** As the database names it. */
  name: string;
  /** The role that it needs; null: any. */
  role: Role | null;
  /** Of the form. */
  title: string;
  /** What its button says. */
  action: string;
  fields: readonly CommandField[];
  returns: Returns;
  /** Of the rows that are returned. */
  columns?: readonly Column[];
  /** Only what was changed in the form is sent: what is left out stays as it is. */
  keepsRest?: boolean;
  /** It is not sent if nothing was changed in the form. */
  isOfSetting?: boolean;
  /** What is in force, with which the form begins: the command sets all of it. */
  sets?: Setting;
  /** What the value is that is returned, in front of it; the name of a file without its ending. */
  result?: string;
  /**
   * Asks before it is done, with these words about what happens and what cannot be undone. `about`:
   * the name of the market or the user that it is about, if that is known.
   */
  confirm?: string | ((given: Arguments, about: string | undefined) => string);
  /** The kind of movement of cash that it books, once for each reference. */
  books?: "deposit" | "withdrawal" | "adjustment" | "reversal" | "fee_payout";
  /** Whether the question says what the outcome would pay in all. */
  showsPayout?: boolean;
  /** What to say above the rows that are returned. */
  above?: (given: Arguments) => string | undefined;
  /** What to say if no rows are returned. */
  none?: (given: Arguments) => string;
}

/** The arguments that a call needs, by the names of GraphQL. */
export type Arguments = Record<string, unknown>;

/**
 * The arguments of a call by their names in SQL, for a proposal. A value stays the text that was
 * typed: the database reads it as its argument is declared, and a reference may begin with a zero.
 */
export function namedArguments(given: Arguments): Arguments {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [snakeCase(name), value]));
}

/** statement_tom_2026-11-01_2026-11-30: a file by its command, its user and its days. */
export function fileNameOf(
  { name, result, returns, fields }: Command,
  given: Arguments,
  handle?: string,
): string {
  const days = fields.filter(({ kind }) => kind === "day").map(({ argument }) => given[argument]);
  const parts = [returns === "file" ? (result ?? name) : name, handle ?? given.userId, ...days];
  return parts.filter((part) => typeof part === "string").join("_");
}
