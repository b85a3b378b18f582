import type { JSX } from "preact";
import { Fact } from "../../components/fact.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { askForRow } from "../api/queries.ts";
import { isUuid, showCents, showCount, snakeCase } from "../api/values.ts";
import { views } from "../views/all.ts";
import type { Row } from "../views/query.ts";
import type { Column, ColumnKind, View } from "../views/view.ts";
import { Cell } from "./cell.tsx";
import { RowTable } from "./row_table.tsx";

/** Objects of the database, such as the arguments of a call, as people read them. */

/** Fields that lead to a page of their own. */
const kinds: Partial<Record<string, ColumnKind>> = {
  user_id: "user",
  market_id: "market",
  event_id: "event",
  trade_id: "trade",
  staff_id: "member",
  taker_id: "user",
  maker_id: "user",
};

/** The views whose first column has the name, by the field with the id. */
const named: Partial<Record<string, View>> = {
  user_id: views.users,
  market_id: views.markets,
  event_id: views.events,
  staff_id: views.staff,
  taker_id: views.users,
  maker_id: views.users,
};

function kindOf(name: string, value: unknown): ColumnKind {
  const known = kinds[name];
  if (known !== undefined) return known;
  if (name.endsWith("_cents")) return "cents";
  if (typeof value === "boolean") return "flag";
  if (typeof value === "string") {
    if (/^\d{4}-\d\d-\d\dT/.test(value) || value === "infinity") return "time";
    return isUuid(value) ? "id" : "text";
  }
  return typeof value === "number" ? "count" : "json";
}

/**
 * Close time of close_time, Amount of amount_cents; Change of the taker's cash where there is the
 * taker, too.
 */
function labelOf(name: string, others: readonly string[] = []): string {
  const owner = /^(.+)_cents$/.exec(name)?.[1];
  if (owner !== undefined && others.includes(`${owner}_id`)) return `Change of the ${owner}'s cash`;
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1).replace(/ (?:cents|id)$/, "");
}

function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Each field with its value in full. */
export function Readable({ value }: { value: Row }): JSX.Element {
  const names = Object.keys(value);
  const inSql = names.map(snakeCase);
  if (names.length === 0) return <p class="muted">Nothing.</p>;
  return (
    <dl class="readable">
      {names.map((name) => (
        <Fact key={name} name={labelOf(snakeCase(name), inSql)}>
          <Value name={snakeCase(name)} value={value[name]} />
        </Fact>
      ))}
    </dl>
  );
}

interface ValueProps {
  /** As SQL has it: it says what the value is. */
  name: string;
  value: unknown;
}

/** A value by its name. */
export function Value({ name, value }: ValueProps): JSX.Element {
  const view = named[name];
  if (view !== undefined && typeof value === "string") {
    return <Named view={view} id={value} />;
  }
  if (Array.isArray(value) && value.length > 0) return <Values values={value} />;
  if (isObject(value)) return <Readable value={value} />;
  return (
    <Cell
      column={{ field: name, label: name, kind: kindOf(name, value) }}
      row={{ [name]: value }}
    />
  );
}

/** Objects as a table, with the sum of their amounts; other values one below the other. */
function Values({ values }: { values: unknown[] }): JSX.Element {
  if (!values.every(isObject)) {
    return (
      <ul>
        {values.map((value, at) => (
          <li key={at}>
            <Value name="" value={value} />
          </li>
        ))}
      </ul>
    );
  }
  const names = [...new Set(values.flatMap(Object.keys))];
  const columns = names.map((name): Column => {
    const some = values.find((row) => row[name] !== null && row[name] !== undefined)?.[name];
    return { field: name, label: labelOf(snakeCase(name)), kind: kindOf(snakeCase(name), some) };
  });
  const sum = values.reduce((all, { amount_cents: cents }) => all + Number(cents ?? 0), 0);
  return (
    <>
      <p>
        {showCount(values.length)} in all{names.includes("amount_cents") && `, ${showCents(sum)}`}
      </p>
      <RowTable label="Entries" columns={columns} rows={values} />
    </>
  );
}

interface NamedProps {
  view: View;
  id: string;
}

/** A link with the name of what an id is of. */
function Named({ view, id }: NamedProps): JSX.Element {
  const [column] = view.columns;
  const field = column?.field ?? "";
  const asked = useAsked(
    () => askForRow({ ...view, columns: view.columns.slice(0, 1) }, { [field]: { equalTo: id } }),
    [field, id],
  );
  return (
    <>{column !== undefined && <Cell column={column} row={asked.data ?? { [field]: id }} />}</>
  );
}
