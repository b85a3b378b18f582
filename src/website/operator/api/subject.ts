import type { Result } from "../../api/result.ts";
import type { Arguments, Command } from "../commands/command.ts";
import { markets } from "../views/catalogue.ts";
import { users } from "../views/people.ts";
import { nameOf, textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { market } from "../views/parts.ts";
import { cashMovements, feePayouts } from "../views/cash.ts";
import { trades } from "../views/trading.ts";
import type { Column } from "../views/view.ts";
import { askForRow, askForUser } from "./queries.ts";
import { showCents, showTime } from "./values.ts";

/** Whom or what a form is about, where that was typed and is not that of the page. */

export interface Subject {
  row: Row;
  columns: readonly Column[];
  name: string;
}

interface Kind {
  argument: string;
  ask: (typed: string) => Promise<Result<Row | undefined>>;
  columns: readonly Column[];
  name: (row: Row) => string;
  none: string;
  /** Why nothing can be done about it. */
  refusal?: (row: Row) => string | undefined;
}

const kinds: readonly Kind[] = [
  {
    ...{ argument: "userId", ask: askForUser, columns: users.columns },
    name: (row) => textIn(row, "displayName"),
    none: "There is no such user.",
  },
  {
    argument: "tradeId",
    ask: (tradeId) => askForRow(trades, { tradeId: { equalTo: tradeId } }),
    columns: trades.columns.filter(({ kind }) => kind !== "order" && kind !== "journal"),
    name: (row) => nameOf(market, row) ?? "",
    none: "There is no such trade.",
    refusal: (row) => {
      const undoneAt = textIn(row, "voidedAt");
      return undoneAt === "" ? undefined : `It was undone on ${showTime(undoneAt)} already.`;
    },
  },
  {
    argument: "marketId",
    ask: (marketId) => askForRow(markets, { marketId: { equalTo: marketId } }),
    columns: markets.columns.slice(0, 5),
    name: (row) => textIn(row, "title"),
    none: "There is no such market.",
  },
];

/** What a form asks about before it is sent: whom or what it is about, or why it cannot be sent. */
export type Found =
  | { issues: Record<string, string> }
  | { issues: undefined; input: Arguments; subject: Subject | undefined };

/** Finds whom or what was typed, if anything is asked about it, and whether it was done already. */
export async function askBefore(
  command: Command,
  input: Arguments,
  given: Arguments,
): Promise<Result<Found>> {
  const isTyped = ({ argument }: Kind): boolean =>
    given[argument] === undefined && typeof input[argument] === "string";
  // Of a user the form has to find the id.
  const kind = kinds.find(
    (one) => isTyped(one) && (one.argument === "userId" || command.confirm !== undefined),
  );
  if (kind === undefined) return await askIfBooked(command, input, undefined);
  const { argument, columns } = kind;
  const found = await kind.ask(String(input[argument]));
  if (!found.ok) return found;
  const row = found.data;
  const refusal = row === undefined ? kind.none : kind.refusal?.(row);
  if (row === undefined || refusal !== undefined) {
    return { ok: true, data: { issues: { [argument]: refusal ?? "" } } };
  }
  const subject = { row, columns, name: kind.name(row) };
  return await askIfBooked(command, { ...input, [argument]: row[argument] }, subject);
}

/** A movement of cash that is booked already: to book it again would move nothing. */
async function askIfBooked(
  { books }: Command,
  input: Arguments,
  subject: Subject | undefined,
): Promise<Result<Found>> {
  const isNew: Found = { issues: undefined, input, subject };
  if (books === undefined) return { ok: true, data: isNew };
  const { reference, userId } = input;
  const filter = {
    reference: { equalTo: reference },
    ...(books !== "fee_payout" && { kind: { equalTo: books } }),
    ...(userId !== undefined && { userId: { equalTo: userId } }),
  };
  const view = books === "fee_payout" ? feePayouts : cashMovements;
  const asked = await askForRow(view, filter);
  if (!asked.ok) return asked;
  const booked = asked.data;
  if (booked === undefined) return { ok: true, data: isNew };
  const at = showTime(textIn(booked, "createdAt"));
  // One of another user may have the same reference.
  const asks = books === "reversal" && userId === undefined ? " Of another one, say whose." : "";
  const amount = showCents(textIn(booked, "amountCents"));
  const words = `It was booked on ${at} with ${amount}, and cannot be again.${asks}`;
  return { ok: true, data: { issues: { reference: words } } };
}
