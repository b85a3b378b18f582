import type { ClientBase } from "pg";
import { isKnown } from "./load.ts";
import type { Answer, Journal } from "./load.ts";
import type { Keyed, SwitchSet } from "./keyed_load.ts";

/** Whether commands with keys happened once, and switches fired when they expired and not before. */

/** An order as the database has it. The number of its user is that of the client. */
interface OrderOfUser {
  id: string;
  user: number;
  expiresAt: string | null;
  createdAt: number;
  cancelledAt: number | null;
  status: string;
  cancelReason: string | null;
  replacedBy: string | null;
  isReplacement: boolean;
}

/** Databases may hold other users. */
const ofDrill = "u.handle ~ '^trader[0-9]+$'";

/** Every difference between the database and what clients were told of commands with keys. */
export async function findKeyedViolations(
  client: ClientBase,
  { keyed, switches, cancellings }: Journal,
): Promise<string[]> {
  const orders = await readOrders(client);
  const byId = new Map(orders.map((order) => [order.id, order]));
  const byExpiry = Map.groupBy(
    orders.filter(({ isReplacement }) => !isReplacement),
    ({ expiresAt }) => expiresAt,
  );
  // What was cancelled by its owner's own commands.
  const asked = new Set([
    ...cancellings.map(({ orderId }) => orderId),
    ...keyed.flatMap(({ what, orderId, body }) =>
      what === "cancel-batch" ? (body as { orderIds: string[] }).orderIds : [orderId],
    ),
  ]);
  const cancelsAll = new Set(keyed.map(({ what, user }) => (what === "cancel-all" ? user : -1)));
  const byUser = Map.groupBy(orders, ({ user }) => user);
  return [
    ...[...keyed, ...switches].flatMap(checkAnswers),
    ...keyed.flatMap((one) => checkEffect(one, byId, byExpiry)),
    ...(await checkConversions(client, keyed)),
    ...[...byUser].flatMap(([user, own]) => {
      const sets = switches.filter((set) => set.user === user);
      const fired = own.filter(
        ({ id, cancelReason }) => cancelReason === "user_cancelled" && !asked.has(id),
      );
      return cancelsAll.has(user)
        ? []
        : [...checkFired(user, fired, sets), ...checkExpired(user, own, sets)];
    }),
  ];
}

/** All answers to a command with a key are one answer, and one of them at most is no replay. */
function checkAnswers(keyed: Keyed): string[] {
  const { answers } = keyed;
  const violations: string[] = [];
  const expect = (isSo: boolean, what: string) => {
    if (!isSo) violations.push(`${what}: ${describe(keyed)}`);
  };
  const accepted = answers.filter((answer) => answer.kind === "accepted" && isFinal(answer));
  expect(
    answers.every(({ kind }) => kind !== "unexpected"),
    "an unexpected answer",
  );
  expect(isKnown(keyed) || answers.every(isNothing), "never resolved");
  expect(new Set(accepted.map(({ text }) => text)).size <= 1, "a repetition has another answer");
  expect(accepted.filter(({ replayed }) => !replayed).length <= 1, "carried out twice");
  const [first] = accepted;
  expect(
    answers.every((answer) => !answer.isRepetition || answer === first || answer.replayed),
    "a repetition is no replay",
  );
  return violations;
}

/** An answer with orders that the server could not cancel is not kept: a repetition goes on. */
function isFinal({ body: { failures = [] }, text }: Answer): boolean {
  return failures.every(({ code }) => code !== "internal") && !text.includes('"balance":null');
}

function isNothing({ kind }: Answer): boolean {
  return kind === "conflict" || kind === "unsent";
}

function checkEffect(
  keyed: Keyed,
  byId: Map<string, OrderOfUser>,
  byExpiry: Map<string | null, OrderOfUser[]>,
): string[] {
  const { answers, what, orderId, expiries = [] } = keyed;
  const violations: string[] = [];
  const expect = (isSo: boolean, which: string) => {
    if (!isSo) violations.push(`${which}: ${describe(keyed)}`);
  };
  const told = answers.find(({ kind }) => kind === "accepted")?.body;
  const isUnknown = told === undefined && answers.some(({ kind }) => /cut|unknown/.test(kind));
  const stored = byId.get(orderId ?? "");
  if (what === "amend" && !(isUnknown && !isKnown(keyed))) {
    const successor = told?.queuePositionChanged ? told.order?.id : undefined;
    expect((stored?.replacedBy ?? undefined) === successor, "an amendment has its successor");
  }
  if (what === "cancel" && told) {
    expect(stored?.cancelReason === "user_cancelled", "an order that was cancelled stays so");
  }
  if (what === "batch" && (told !== undefined || isKnown(keyed))) {
    expiries.forEach((expiresAt, index) => {
      const ids = (byExpiry.get(expiresAt) ?? []).map(({ id }) => id);
      const id = told?.results?.[index]?.body.order?.id;
      expect(ids.join() === (id ?? ""), `order ${index + 1} of a batch is there once`);
    });
  }
  return violations;
}

/** Sets are alike, so they are counted. */
async function checkConversions(client: ClientBase, keyed: Keyed[]): Promise<string[]> {
  const { rows } = await client.query<{ user: number; kind: string; count: number }>(
    `select substr(u.handle, 7)::int - 1 as "user", c.kind, count(*)::int as count
     from trading.set_conversions as c
     join identity.users as u on u.id = c.user_id
     where ${ofDrill}
     group by u.handle, c.kind`,
  );
  const stored = new Map(rows.map(({ user, kind, count }) => [`${kind} of user ${user}`, count]));
  const told = new Map<string, number>();
  const unknown = new Set<string>();
  for (const one of keyed) {
    if (one.what !== "split" && one.what !== "merge") continue;
    const name = `${one.what} of user ${one.user}`;
    if (one.answers.some(({ kind }) => kind === "accepted")) {
      told.set(name, (told.get(name) ?? 0) + 1);
    } else if (!isKnown(one)) unknown.add(name);
  }
  return [...new Set([...stored.keys(), ...told.keys()])]
    .filter((name) => !unknown.has(name) && stored.get(name) !== told.get(name))
    .map((name) => `${name}: ${stored.get(name) ?? 0}, but ${told.get(name) ?? 0} were accepted`);
}

/** Times are told in whole milliseconds. */
const ROUNDING_MS = 1;
/** An order that was under way when the switch fired may come after it, and stay. */
const UNDER_WAY_MS = 500;

/** A setting of a switch that was accepted, by the clock of the database. */
interface Accepted {
  at: number;
  until: number;
}

function acceptedOf(sets: SwitchSet[]): Accepted[] {
  return sets
    .flatMap(({ answers, timeoutMs }) => {
      const expiresAt = answers.find(({ kind }) => kind === "accepted")?.body.expiresAt;
      if (!expiresAt) return [];
      const until = Date.parse(expiresAt);
      return [{ at: until - timeoutMs, until }];
    })
    .sort((one, other) => one.at - other.at);
}

/** No order is cancelled by a switch that had been renewed in time, or that was never set. */
function checkFired(user: number, fired: OrderOfUser[], sets: SwitchSet[]): string[] {
  const accepted = acceptedOf(sets);
  return fired.flatMap(({ id, cancelledAt }) => {
    const at = cancelledAt ?? 0;
    const last = accepted.findLast((set) => set.at < at);
    if (last === undefined ? sets.some(mayBeSet(at)) : last.until <= at + ROUNDING_MS) return [];
    const since = last === undefined ? "never set" : `set until ${describeTime(last.until)}`;
    return [
      `order ${id} of user ${user} was cancelled at ${describeTime(at)}, the switch ${since}`,
    ];
  });
}

/**
 * A switch that expired, because no setting came or may have come before, has ended all orders of
 * its user that were open then, before it could be set again.
 */
function checkExpired(user: number, own: OrderOfUser[], sets: SwitchSet[]): string[] {
  const accepted = acceptedOf(sets);
  return accepted.flatMap(({ at, until }, index) => {
    const next = accepted[index + 1];
    const isRenewed = next !== undefined && next.at <= until + ROUNDING_MS;
    const isUnsure = sets.some(
      (set) =>
        !set.answers.some(({ kind }) => kind === "accepted") &&
        set.sentAt < until &&
        set.answeredAt > at &&
        !set.answers.every(({ kind }) => kind === "refused"),
    );
    if (isRenewed || isUnsure) return [];
    return own
      .filter(({ createdAt }) => createdAt < until - UNDER_WAY_MS)
      .filter(({ cancelledAt, status }) =>
        /^(open|partially_filled|scheduled)$/.test(status)
          ? true
          : next !== undefined && (cancelledAt ?? 0) > next.at,
      )
      .map(
        ({ id, status, cancelledAt }) =>
          `order ${id} of user ${user} outlived the switch of ${describeTime(until)}: ${status}, ` +
          `ended ${describeTime(cancelledAt)}, set again ${describeTime(next?.at ?? null)}`,
      );
  });
}

function mayBeSet(at: number): (set: SwitchSet) => boolean {
  return ({ sentAt, timeoutMs }) => sentAt + timeoutMs <= at;
}

function describe({ what, user, body, orderId, answers }: Keyed): string {
  const told = answers.map(
    ({ told: said, replayed, isRepetition }) =>
      `${said}${replayed ? " replayed" : ""}${isRepetition ? " (later)" : ""}`,
  );
  return `${what} of user ${user} ${JSON.stringify(body ?? orderId)} was told ${told.join(", ")}`;
}

function describeTime(at: number | null): string {
  return at === null ? "never" : new Date(at).toISOString();
}

async function readOrders(client: ClientBase): Promise<OrderOfUser[]> {
  const { rows } = await client.query(
    `select o.public_id as id, substr(u.handle, 7)::int - 1 as "user", o.expires_at as "expiresAt",
       o.created_at as "createdAt", o.cancelled_at as "cancelledAt", o.status,
       o.cancel_reason as "cancelReason", n.public_id as "replacedBy",
       exists (
         select from trading.order_replacements as x where x.order_id = o.id
       ) as "isReplacement"
     from trading.orders as o
     join identity.users as u on u.id = o.user_id
     left join trading.order_replacements as r on r.replaced_order_id = o.id
     left join trading.orders as n on n.id = r.order_id
     where ${ofDrill}`,
  );
  return rows.map((row) => ({
    ...row,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    createdAt: row.createdAt.getTime(),
    cancelledAt: row.cancelledAt?.getTime() ?? null,
  }));
}
