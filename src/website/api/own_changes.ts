import { batch, effect, signal } from "@preact/signals";
import { isReplaced, noteChangedOrders, notePlacedOrder } from "./answered_orders.ts";
import type { ChangedOrder, NewOrder } from "./answered_orders.ts";
import { openStream } from "./events.ts";
import type { Connection, Stream } from "./events.ts";
import { gather } from "./gathering.ts";
import { paceMs } from "./quota.ts";
import type { Result } from "./result.ts";
import { isSignedIn, session } from "./session.ts";
import { userTurn } from "./stream_turns.ts";
import { isTold, noteTold } from "./told_orders.ts";
import type { UserEvent } from "./types.ts";

/**
 * Says when something of the user's may have changed: by the user's stream, by a command of this
 * tab or of another one, because a lost connection came back, or because some time has passed.
 * What a page shows of the user's is then read anew together, so that it fits together.
 *
 * One tab of a browser has the user's stream, and passes on to the others what it hears, and how the
 * stream is doing. Each tab tells the others what its commands were answered.
 */

/** What the answer to a command says, so that it need not be read. */
export interface OwnAnswer {
  /** The cash after the command, where it moved cash. */
  balanceCents?: number | undefined;
  /** The order that it placed, if the answer says all that became of it so far. */
  placed?: NewOrder | undefined;
  /** The orders that it changed. */
  changed?: readonly ChangedOrder[] | undefined;
  /** Whether more may have changed than the answer says. */
  isNews?: boolean | undefined;
}

/** Rises with every change. */
export const ownVersion = signal(0);
/** The version of the last change that was not by a command with an answer that says all. */
export const newsVersion = signal(0);
export const userConnection = signal<Connection>("connecting");
/** The newest answer of a command, of this tab or of another one. */
export const ownAnswer = signal<OwnAnswer | undefined>(undefined);

/** When the user's shares of a market last changed, by this page's clock. */
const tradedAt = signal<ReadonlyMap<string, number>>(new Map());

/** Whether the user's shares of this market, or of any, changed after this time. */
export function hasTradedSince(at: number, marketId?: string): boolean {
  const times = tradedAt.value;
  if (marketId !== undefined) return (times.get(marketId) ?? 0) > at;
  return [...times.values()].some((time) => time > at);
}

function noteTraded(marketId: string): void {
  tradedAt.value = new Map(tradedAt.peek()).set(marketId, performance.now());
}

/** How often a command or its release changed an order since the last news. */
const changesOfOrders = signal<ReadonlyMap<string, number>>(new Map());

/**
 * Another one whenever an order may have changed, but by the command that placed it. After another
 * command about it and after its release that is at once: to read one order needs no pace.
 */
export function versionOfOrder(id: string): string {
  return `${newsVersion.value}.${changesOfOrders.value.get(id) ?? 0}`;
}

/** What tabs say to each other. `news`: anything may have changed. */
type Message =
  | "news"
  /** With the session of the command. */
  | { answer: OwnAnswer; session: string }
  | { event: UserEvent }
  | Connection;

const tabs = new BroadcastChannel("pgmarkets.own-changes");
/** Deposits have no event in the stream. */
const READ_EVERY_MS = 15_000;

/** What the next round is about. */
const next = { isNews: false, events: [] as UserEvent[] };
const gathering = gather({ read: readRound, paceMs });

function readRound(): void {
  // A tab that is hidden reads everything anew when it is seen again.
  if (document.hidden) return;
  // The answer of a command may come after its events.
  const isNews = next.isNews || !next.events.every(isTold);
  const version = ownVersion.peek() + 1;
  batch(() => {
    ownVersion.value = version;
    if (!isNews) return;
    newsVersion.value = version;
    changesOfOrders.value = new Map();
  });
  next.isNews = false;
  next.events = [];
}

function noteNews(): void {
  next.isNews = true;
  gathering.noteChange();
}

function noteEvent(event: UserEvent): void {
  if (event.type === "connected" || isTold(event)) return;
  if (event.type === "order_released") {
    const { orderId: id, status, filledQuantity } = event;
    noteChanged([{ id, becomes: { id, status, filledQuantity } }]);
  }
  if (["fill", "order_released", "settled"].includes(event.type)) noteTraded(event.marketId);
  next.events.push(event);
  gathering.noteChange();
}

function noteChanged(changed: readonly ChangedOrder[]): void {
  noteChangedOrders(changed);
  const counts = new Map(changesOfOrders.peek());
  for (const change of changed) {
    if (!isReplaced(change)) counts.set(change.id, (counts.get(change.id) ?? 0) + 1);
  }
  changesOfOrders.value = counts;
}

/** An answer to a command of another session may be about another user. */
function noteAnswer(of: string, answer: OwnAnswer): void {
  if (of !== session.peek()) {
    next.isNews = true;
    return;
  }
  const { placed, changed = [], isNews = false } = answer;
  if (placed !== undefined) {
    noteTold(placed);
    notePlacedOrder(placed);
    if (placed.filledQuantity > 0) noteTraded(placed.marketId);
  }
  noteChanged(changed);
  if (isNews) next.isNews = true;
  ownAnswer.value = answer;
}

/**
 * Gives a command. What it may have changed is read after it, once for the command and its events,
 * but for what `answerOf` finds in the answer. After one that failed everything is read.
 */
export async function giveCommand<Data>(
  send: () => Promise<Result<Data>>,
  answerOf: (data: Data) => OwnAnswer,
): Promise<Result<Data>> {
  const begun = session.peek();
  const end = gathering.beginCommand();
  const result = await send();
  const answer = result.ok ? answerOf(result.data) : { isNews: true };
  noteAnswer(begun, answer);
  end();
  tell({ answer, session: begun });
  return result;
}

/** To be called after a change by this tab that is no command of {@link giveCommand}. */
export function announceChange(): void {
  next.isNews = true;
  gathering.noteCommand();
  tell({ answer: { isNews: true }, session: session.peek() });
}

function tell(message: Message): void {
  tabs.postMessage(message);
}

/** Follows the user's stream while a user is signed in. */
export function followOwnChanges(): void {
  const isSeen = (): boolean => isSignedIn.peek() && !document.hidden;
  const readIfSeen = (): void => {
    if (isSeen()) noteNews();
  };
  setInterval(readIfSeen, READ_EVERY_MS);
  document.addEventListener("visibilitychange", readIfSeen);
  let stream: Stream | undefined;
  tabs.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data === "news") readIfSeen();
    else if (typeof data === "string") {
      if (stream?.connection.peek() === "waiting") userConnection.value = data;
    } else if ("answer" in data) {
      // Also while it is hidden: when it is seen again, what it shows may be read only later.
      noteAnswer(data.session, data.answer);
      if (isSeen()) gathering.noteCommand();
    } else if (isSeen()) noteEvent(data.event);
  };
  const noteForAll = (): void => {
    noteNews();
    tell("news");
  };
  let stopFollowing: (() => void) | undefined;
  effect(() => {
    stopFollowing?.();
    stream?.close();
    stream = undefined;
    if (!isSignedIn.value) return;
    const opened = openStream({
      path: "/api/stream/user?include=fills,settlements,markets",
      onData: (data) => {
        const event = data as UserEvent;
        noteEvent(event);
        tell({ event });
      },
      onReturn: noteForAll,
      takeTurn: userTurn,
    });
    stream = opened;
    stopFollowing = effect(() => {
      const connection = opened.connection.value;
      userConnection.value = connection;
      if (connection === "waiting") return;
      tell(connection);
      // The session may have ended, which a stream cannot say: asking anew finds out.
      if (connection === "lost") queueMicrotask(noteNews);
    });
  });
}
