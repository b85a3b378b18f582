import type { Result } from "../../api/result.ts";
import type { Arguments, Command } from "../commands/command.ts";
import { markets } from "../views/catalogue.ts";
import { users } from "../views/people.ts";
import { nameOf, textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { market } from "../views/parts.ts";
import { trades } from "../views/trading.ts";
import type { Column } from "../views/view.ts";
import { askForRow, askForUser } from "./queries.ts";
import { showTime } from "./values.ts";

/** Whom or what a form is about, where that was typed and is not that of the page. */

export interface Subject {
  row: Row;
  columns: readonly Column[];
  name: string;
  /** The argument that stands for it, with its id. */
  is: Arguments;
  /** Why nothing can be done about it, beside its field. */
  refusal: Record<string, string> | undefined;
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

interface Find {
  ask: () => Promise<Result<Subject | undefined>>;
  /** What is said beside its field if there is none. */
  none: Arguments & Record<string, string>;
}

/** How to find whom or what was typed; undefined if nobody was, or nothing is asked about it. */
export function askForSubject(
  command: Command,
  input: Arguments,
  given: Arguments,
): Find | undefined {
  const isTyped = ({ argument }: Kind): boolean =>
    given[argument] === undefined && typeof input[argument] === "string";
  // Of a user the form has to find the id.
  const kind = kinds.find(
    (one) => isTyped(one) && (one.argument === "userId" || command.confirm !== undefined),
  );
  if (kind === undefined) return undefined;
  const { argument, columns } = kind;
  return {
    ask: async () => {
      const found = await kind.ask(String(input[argument]));
      if (!found.ok || found.data === undefined) return found as Result<undefined>;
      const row = found.data;
      const is = { [argument]: row[argument] };
      const words = kind.refusal?.(row);
      const refusal = words === undefined ? undefined : { [argument]: words };
      return { ok: true, data: { row, columns, name: kind.name(row), is, refusal } };
    },
    none: { [argument]: kind.none },
  };
}
