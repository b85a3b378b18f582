import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { pause } from "../../api/exchange.ts";
import { shownBook } from "../../api/market_stream.ts";
import { placeOrder } from "../../api/orders.ts";
import { changePending, pendingOrders } from "../../api/pending_order.ts";
import { isUncertain } from "../../api/result.ts";
import type { Problem } from "../../api/result.ts";
import { isSignedIn, session, wasSignedOut } from "../../api/session.ts";
import type { Market, PlacedOrder, PlaceOrder } from "../../api/types.ts";
import { formatPrice, formatTradeTime } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import type { Command } from "../../hooks/use_command.ts";
import { usePreview } from "../../hooks/use_preview.ts";
import { useRules } from "../../hooks/use_rules.ts";
import { useSignUpIsClosed } from "../../hooks/use_sign_up_is_closed.ts";
import { Choice } from "../choice.tsx";
import { USUAL_RATE_BPS } from "../fee.ts";
import { ProblemNotice } from "../notice.tsx";
import { orderWords } from "../order_words.ts";
import type { Outcome } from "../order_words.ts";
import { Submit } from "../submit.tsx";
import { answeredOutcome } from "./answered_outcome.ts";
import { OrderNotice } from "./order_notice.tsx";
import { GuestPreview, OrderPreview } from "./order_preview.tsx";
import { atShownPrice } from "./shown_price.ts";
import { amountField, orderOf, typedErrors, withShares } from "./ticket_order.ts";
import type { Ticket as TicketValues } from "./ticket_order.ts";
import { TicketFields } from "./ticket_fields.tsx";
import { useRejectionWords } from "./use_rejection_words.ts";

interface TicketProps {
  market: Market;
  ticket: TicketValues;
  onChange: (change: Partial<TicketValues>) => void;
}

/** Where an order is made: what to trade, what that will do, and the button that does it. */
export function Ticket({ market, ticket, onChange }: TicketProps): JSX.Element {
  const rules = useRules(market.id);
  const feeRateBps = rules?.feeRateBps ?? USUAL_RATE_BPS;
  const shown = withShares(ticket, feeRateBps);
  const { order, errors } = orderOf(shown, market.id);
  const preview = usePreview(isSignedIn.value ? order : undefined);
  const [tries, setTries] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const latest = useRef(ticket);
  latest.current = ticket;
  // Before the paint: who types at once types into the field that they see.
  useLayoutEffect(() => {
    if (order === undefined) focusWrongField(form.current);
  }, [tries]);
  const { command, placed, isWaiting, isInDoubt, send } = useSending(order, market.title);
  const rejected = preview?.ok === true ? preview.data.rejection?.code : undefined;
  const lastRejected = useRef<string>(undefined);
  useEffect(() => {
    if (preview?.ok !== true) return;
    // What was refused for a reason that is over is refused no more.
    const isOver = rejected === undefined && lastRejected.current !== undefined;
    if (isOver && command.problem?.code === lastRejected.current) command.reset();
    lastRejected.current = rejected;
  }, [preview]);
  const words = useRejectionWords(rejected, order, market.id);
  const wrong = errors && (tries > 0 ? errors : typedErrors(shown, errors));
  // More than the user can pay or holds is said where it is typed, until it was sent: then below.
  const known = command.problem?.code;
  const isTooMuch =
    rejected === "INSUFFICIENT_BALANCE" && rejected !== known && words !== undefined;

  const submit = (event: Event): void => {
    event.preventDefault();
    setTries(tries + 1);
    const sent =
      order &&
      atShownPrice(order, {
        preview: preview?.ok === true ? preview.data : undefined,
        book: shownBook.peek(),
        feeRateBps,
      });
    send(sent, () => {
      setTries(0);
      // What was ordered is done: its figures must not stand beside its result. What was typed
      // meanwhile is for another order.
      const { quantity, budget } = latest.current;
      if (quantity === ticket.quantity && budget === ticket.budget) {
        onChange({ quantity: "", budget: "" });
      }
    });
  };

  return (
    <section class="panel ticket" aria-labelledby="ticket-title">
      <h2 id="ticket-title" class="unseen">
        New order
      </h2>
      <form ref={form} onSubmit={submit} noValidate>
        <TradeChoices market={market} ticket={ticket} onChange={onChange} />
        <TicketFields
          ticket={shown}
          errors={isTooMuch ? { [amountField(shown)]: words } : (wrong ?? {})}
          onChange={onChange}
        />
        {order !== undefined &&
          (isSignedIn.value ? (
            <OrderPreview
              order={order}
              result={preview}
              isInDoubt={isInDoubt}
              words={words}
              knownCode={isTooMuch ? rejected : known}
            />
          ) : (
            <GuestPreview order={order} />
          ))}
        {isSignedIn.value ? (
          <Submit
            tone={ticket.side}
            isBusy={command.isBusy}
            disabled={pause.value !== undefined && !command.isBusy}
            busyText={isWaiting ? "No answer yet, trying again…" : "Sending…"}
          >
            {pause.value !== undefined ? "Trading is paused" : actionWords(ticket)}
          </Submit>
        ) : (
          <GuestLinks marketId={market.id} isBuying={order?.orderType === "buy"} />
        )}
      </form>
      <SendProblem problem={command.problem} order={order} marketId={market.id} />
      {placed !== undefined && isSignedIn.value && (
        <OrderNotice key={placed.id} id={placed.id} first={placed.first} prefix={placed.words} />
      )}
    </section>
  );
}

interface GuestLinksProps {
  marketId: string;
  /** Whether an order to buy is filled in. */
  isBuying: boolean;
}

/** What a visitor does before they trade. They find the ticket again as it was. */
function GuestLinks({ marketId, isBuying }: GuestLinksProps): JSX.Element {
  const back = `?back=/markets/${marketId}`;
  const isSignUpClosed = useSignUpIsClosed();
  const signsUp = isBuying && !isSignUpClosed && !wasSignedOut.value;
  return (
    <>
      <a
        class="button button-main button-wide"
        href={signsUp ? `/sign-up${back}` : `/sign-in${back}`}
      >
        {signsUp ? "Sign up and buy" : "Sign in to trade"}
      </a>
      {!isSignUpClosed && (
        <p class="hint">
          {signsUp ? (
            <>
              Have an account? <a href={`/sign-in${back}`}>Sign in</a>
            </>
          ) : (
            <>
              New here? <a href={`/sign-up${back}`}>Make an account</a>
            </>
          )}
        </p>
      )}
    </>
  );
}

/** What is wrong is heard with the field. One of the options may be folded. */
function focusWrongField(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLInputElement>("[aria-invalid=true]");
  const details = field?.closest("details");
  if (details) details.open = true;
  field?.focus();
}

function actionWords({ orderType, side }: TicketValues): string {
  return `${orderType === "buy" ? "Buy" : "Sell"} ${side.toUpperCase()}`;
}

interface Placed {
  id: string;
  first: Outcome;
  /** When it was placed, and what was ordered. */
  words: string;
}

interface Sending {
  command: Command;
  /** The last order, until the user turns to another one. */
  placed: Placed | undefined;
  /** Whether there is no answer yet, and the order is sent again. */
  isWaiting: boolean;
  /** Whether it may be placed, without an answer. */
  isInDoubt: boolean;
  send: (sent: PlaceOrder | undefined, onDone: () => void) => void;
}

/** Sends the orders of a ticket, of which `order` is the one that it has now. */
function useSending(order: PlaceOrder | undefined, marketTitle: string): Sending {
  const command = useCommand();
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [placed, setPlaced] = useState<Placed>();
  const text = JSON.stringify(order);

  // Another order is another order: it must not be taken for a repetition of the last one, and what
  // became of that one must not be taken for an answer to this one.
  useEffect(() => {
    setKey(crypto.randomUUID());
    if (!command.isBusy) command.reset();
    if (order !== undefined) setPlaced(undefined);
  }, [text]);

  // Another user must not see it.
  useEffect(() => {
    setPlaced(undefined);
    if (!command.isBusy) command.reset();
  }, [isSignedIn.value]);

  const isPaused = pause.value !== undefined;
  useEffect(() => {
    if (!isPaused && command.problem?.code === "TRADING_PAUSED") command.reset();
  }, [isPaused]);

  const sentKey = useRef<string>(undefined);
  useEffect(
    () => () => {
      if (sentKey.current !== undefined) changePending(sentKey.current, { isWatched: false });
    },
    [],
  );

  const isWaiting = pendingOrders.value.some(
    ({ pending, state }) => pending.idempotencyKey === sentKey.current && state === "waiting",
  );

  const send = (sent: PlaceOrder | undefined, onDone: () => void): void => {
    if (!command.isBusy) setPlaced(undefined);
    if (sent === undefined) return;
    const pending = { idempotencyKey: key, marketTitle, order: sent, session: session.peek() };
    void command.give(
      () => {
        sentKey.current = key;
        return placeOrder(pending, { isWatched: true });
      },
      (done) => {
        setPlaced(placedOf(done, sent));
        setKey(crypto.randomUUID());
        onDone();
      },
    );
  };

  const isInDoubt = isWaiting || (command.problem !== undefined && isUncertain(command.problem));
  return { command, placed, isWaiting, isInDoubt, send };
}

/** What to trade. */
function TradeChoices({ market, ticket, onChange }: TicketProps): JSX.Element {
  return (
    <>
      <Choice
        label="Buy or sell"
        value={ticket.orderType}
        options={[
          { value: "buy", label: "Buy" },
          { value: "sell", label: "Sell" },
        ]}
        onChange={(orderType) => {
          const kind = orderType === "sell" && ticket.kind === "budget" ? "limit" : ticket.kind;
          onChange({ orderType, kind });
        }}
      />
      <Choice
        label="Side"
        value={ticket.side}
        options={sideOptions(market, ticket.orderType)}
        onChange={(side) => {
          onChange({ side });
        }}
      />
    </>
  );
}

function sideOptions(market: Market, orderType: "buy" | "sell") {
  const { bestAsk, bestBid } = market;
  const noPrice = (price: number | null): number | null => (price === null ? null : 100 - price);
  const [yes, no] = orderType === "buy" ? [bestAsk, noPrice(bestBid)] : [bestBid, noPrice(bestAsk)];
  return [
    { value: "yes", tone: "yes", label: `YES ${formatPrice(yes)}` },
    { value: "no", tone: "no", label: `NO ${formatPrice(no)}` },
  ] as const;
}

interface SendProblemProps {
  problem: Problem | undefined;
  order: PlaceOrder | undefined;
  marketId: string;
}

/** Orders without an answer have their notice on every page. */
function SendProblem({ problem, order, marketId }: SendProblemProps): JSX.Element {
  const words = useRejectionWords(problem?.code, order, marketId);
  return problem !== undefined && isUncertain(problem) ? (
    <p class="field-error">There was no answer: see the notice at the top of the page.</p>
  ) : (
    <ProblemNotice problem={problem} words={words} />
  );
}

function placedOf(answer: PlacedOrder, sent: PlaceOrder): Placed {
  const { order } = answer;
  return {
    id: order.id,
    first: answeredOutcome(answer),
    words: `${formatTradeTime(order.createdAt)} · ${orderWords(sent)}:`,
  };
}
