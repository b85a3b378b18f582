import type { ClientBase } from "pg";
import { findKeyedViolations } from "./keyed_check.ts";
import { isKnown } from "./load.ts";
import type { Answer, Cancelling, Journal, Placing } from "./load.ts";

/** An order as the database has it. */
interface StoredOrder {
  id: string;
  expiresAt: string;
  filledQuantity: number;
  status: string;
  cancelReason: string | null;
}

/** Every difference between the database and the answers of the clients. */
export async function findViolations(client: ClientBase, journal: Journal): Promise<string[]> {
  const orders = await readOrders(client);
  const byExpiry = Map.groupBy(orders, ({ expiresAt }) => expiresAt);
  const byId = new Map(orders.map((order) => [order.id, order]));
  const orderIdsByKey = await readKeys(client);
  return [
    ...journal.placings.flatMap((placing) => [
      ...checkPlacing(placing, byExpiry.get(placing.expiresAt) ?? []),
      ...checkKey(placing, orderIdsByKey),
    ]),
    ...journal.cancellings.flatMap((cancelling) =>
      checkCancelling(cancelling, byId.get(cancelling.orderId)),
    ),
    ...(await findKeyedViolations(client, journal)),
    ...(await verifyLedger(client)),
  ];
}

function checkPlacing(placing: Placing, stored: StoredOrder[]): string[] {
  const { answers, key } = placing;
  const violations: string[] = [];
  const expect = (isSo: boolean, what: string) => {
    if (!isSo) violations.push(`${what}: ${describe(placing)}, stored ${JSON.stringify(stored)}`);
  };
  const told = answers.flatMap(({ body }) => body.order ?? []);
  expect(!has(answers, "unexpected"), "an unexpected answer");
  expect(isKnown(placing) || key === undefined || isUndone(answers), "never resolved");
  if (told.length > 0) {
    expect(stored.length === 1, "an accepted order is there once");
    for (const { id, filledQuantity } of told) {
      expect(stored[0]?.id === id, "all answers tell of the stored order");
      expect((stored[0]?.filledQuantity ?? 0) >= filledQuantity, "a fill that was told stays");
    }
  } else if (isKnown(placing) || isUndone(answers)) {
    expect(stored.length === 0, "of an order that was not placed nothing is there");
  } else {
    expect(stored.length <= 1, "an order of unknown outcome is there at most once");
  }
  return violations;
}

function checkKey(placing: Placing, orderIdsByKey: Map<string, string>): string[] {
  if (placing.key === undefined) return [];
  const told = placing.answers.at(-1)?.body.order?.id;
  const stored = orderIdsByKey.get(placing.key);
  return stored === told
    ? []
    : [`the key stands for ${stored ?? "no order"}: ${describe(placing)}`];
}

function checkCancelling(cancelling: Cancelling, stored: StoredOrder | undefined): string[] {
  const { answers } = cancelling;
  const violations: string[] = [];
  const expect = (isSo: boolean, what: string) => {
    if (!isSo) violations.push(`${what}: ${describe(cancelling)}, ${JSON.stringify(stored)}`);
  };
  expect(!has(answers, "unexpected"), "an unexpected answer");
  expect(isKnown(cancelling) || isUndone(answers), "never resolved");
  if (has(answers, "accepted")) {
    expect(stored?.cancelReason === "user_cancelled", "an order that was cancelled stays so");
  } else if (has(answers, "refused")) {
    expect(/filled|cancelled/.test(stored?.status ?? ""), "an order is not cancellable");
  } else if (isUndone(answers) && cancelling.isOnly) {
    expect(stored?.cancelReason !== "user_cancelled", "of a cancel that failed nothing is there");
  }
  return violations;
}

/** Whether each answer said that nothing has happened. */
function isUndone(answers: Answer[]): boolean {
  return answers.every(({ kind }) => kind === "conflict" || kind === "unsent");
}

function has(answers: Answer[], kind: Answer["kind"]): boolean {
  return answers.some((answer) => answer.kind === kind);
}

function describe(command: Placing | Cancelling): string {
  const { answers, ...rest } = command;
  return `${JSON.stringify(rest)} was told ${answers.map(({ told }) => told).join(", ")}`;
}

/** Those of the clients, which all have an expiry; what amendments put in their place has it too. */
async function readOrders(client: ClientBase): Promise<StoredOrder[]> {
  const { rows } = await client.query(
    `select o.public_id as id, o.expires_at as "expiresAt", o.filled_quantity as "filledQuantity",
       o.status, o.cancel_reason as "cancelReason"
     from trading.orders as o
     where o.expires_at is not null
       and not exists (
         select from trading.order_replacements as r where r.order_id = o.id
       )`,
  );
  return rows.map((row) => ({ ...row, expiresAt: row.expiresAt.toISOString() }));
}

async function readKeys(client: ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query(
    `select k.key, o.public_id as id
     from trading.idempotency_keys as k
     join trading.orders as o on o.id = k.order_id`,
  );
  return new Map(rows.map(({ key, id }) => [key, id]));
}

async function verifyLedger(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query("select * from ledger.verify()");
  return rows.map((row) => `ledger.verify(): ${JSON.stringify(row)}`);
}
