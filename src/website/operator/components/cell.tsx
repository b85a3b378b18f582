import type { ComponentChildren, JSX } from "preact";
import { nameOf, textIn, valueOf } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { shortId, showCents, showCount, showTime } from "../api/values.ts";
import type { Column, ColumnKind } from "../views/view.ts";
import { CopyId } from "./copy_id.tsx";

/** The rows that an item of admin.health counts. */
const rowsBehind: Partial<Record<string, string>> = {
  worker: "/operator/lists/processes?kind=worker",
  process: "/operator/lists/processes?silent=yes",
  release: "/operator/lists/orders?status=scheduled",
  expiry: "/operator/lists/orders?status=open,partially_filled",
  job: "/operator/lists/jobs?late=yes",
  failed_job: "/operator/lists/jobs?failed=yes",
  mail: "/operator/lists/mails?status=waiting",
  seal: "/operator/lists/blocks",
  verification: "/operator/lists/verifications",
};

/** Where a value of a kind leads. */
const targets: Partial<Record<ColumnKind, (value: string, row: Row) => string>> = {
  user: (id) => `/operator/users/${id}`,
  market: (id) => `/operator/markets/${id}`,
  event: (id) => `/operator/events/${id}`,
  proposal: (id) => `/operator/proposals/${id}`,
  order: (id) => `/operator/lists/orders?order=${id}`,
  trade: (id) => `/operator/lists/trades?trade=${id}`,
  journal: (key) => `/operator/lists/journals?journal=${key}`,
  member: (id) => `/operator/staff?member=${id}`,
  pair: (_trades, row) =>
    `/operator/lists/trades?trader=${textIn(row, "firstUserId")}&with=${textIn(row, "secondUserId")}`,
  health: (item) => rowsBehind[item] ?? "/operator/incidents",
};

/** Kinds whose values stand at the right, as numbers do. */
export const isNumber = (kind: ColumnKind | undefined): boolean =>
  kind !== undefined && ["cents", "price", "count", "bps"].includes(kind);

interface CellProps {
  column: Column;
  row: Row;
}

/** A value of a row, as its column shows it. */
export function Cell({ column, row }: CellProps): JSX.Element {
  const instead = column.instead?.(row);
  if (instead !== undefined) return <>{instead}</>;
  const value = valueOf(column, row);
  const isNothing = value === undefined || value === "";
  if (isNothing) return <>{column.ifNone?.(row) ?? <span class="muted">–</span>}</>;
  const { kind = "text" } = column;
  const target = targets[kind];
  if (target === undefined) return <>{shown(kind, value)}</>;
  const id = plain(value);
  // The column has the key of the other row, and shows its id.
  const linked = kind === "order" && column.name !== undefined ? nameOf(column, row) : id;
  const name = kind === "order" ? undefined : nameOf(column, row);
  const words = name ?? (kind === "journal" || kind === "pair" ? id : shortId(linked ?? id));
  const link = (
    <a href={target(linked ?? id, row)} title={linked ?? id}>
      {words}
    </a>
  );
  // A form asks for it.
  return kind === "trade" ? <CopyId id={id}>{link}</CopyId> : link;
}

/** Numbers and texts as they are. */
function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shown(kind: ColumnKind, value: unknown): ComponentChildren {
  const text = plain(value);
  switch (kind) {
    case "time":
      return showTime(text);
    case "cents":
      return showCents(text);
    case "price":
      return `${text}¢`;
    case "count":
      return showCount(text);
    case "bps":
      return `${(Number(text) / 100).toFixed(2)}%`;
    case "flag":
      return value === true ? "yes" : "no";
    case "list":
      return (value as unknown[]).join(", ");
    case "json":
      return <Json value={value} />;
    case "id":
      return <CopyId id={text} />;
    case "text":
    case "key":
    case "user":
    case "market":
    case "event":
    case "order":
    case "trade":
    case "journal":
    case "proposal":
    case "member":
    case "health":
    case "pair":
      return text;
  }
}

const LONG = 60;

/** A value of the database as it is. A long one is folded. */
export function Json({ value }: { value: unknown }): JSX.Element {
  const text = JSON.stringify(value, null, 2);
  const line = JSON.stringify(value);
  if (line.length <= LONG) return <code class="code">{line}</code>;
  return (
    <details class="json">
      <summary>{line.slice(0, LONG)}…</summary>
      <pre class="code">{text}</pre>
    </details>
  );
}
