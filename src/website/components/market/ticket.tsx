import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { shownBook } from "../../api/market_stream.ts";
import { placeOrder } from "../../api/orders.ts";
import { changePending, pendingOrders } from "../../api/pending_order.ts";
import { isUncertain } from "../../api/result.ts";
import type { Problem } from "../../api/result.ts";
import { isSignedIn } from "../../api/session.ts";
import type { Market, PlacedOrder } from "../../api/types.ts";
import { formatPrice } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { usePreview } from "../../hooks/use_preview.ts";
import { useRules } from "../../hooks/use_rules.ts";
import { Choice } from "../choice.tsx";
import { USUAL_RATE_BPS } from "../fee.ts";
import { ProblemNotice } from "../notice.tsx";
import type { Outcome } from "../order_words.ts";
import { Submit } from "../submit.tsx";
import { OrderNotice } from "./order_notice.tsx";
import { OrderPreview } from "./order_preview.tsx";
import { atShownPrice } from "./shown_price.ts";
import { orderOf } from "./ticket_order.ts";
import type { Ticket as TicketValues } from "./ticket_order.ts";
import { TicketFields } from "./ticket_fields.tsx";

interface TicketProps {
  market: Market;
  ticket: TicketValues;
  onChange: (change: Partial<TicketValues>) => void;
}

/** Where an order is made: what to trade, what that will do, and the button that does it. */
export function Ticket({ market, ticket, onChange }: TicketProps): JSX.Element {
  const command = useCommand();
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [isTried, setTried] = useState(false);
  const [placed, setPlaced] = useState<PlacedOrder>();
  const { order, errors } = orderOf(ticket, market.id);
  const text = JSON.stringify(order);
  const preview = usePreview(isSignedIn.value ? order : undefined);
  const rules = useRules(market.id);

  // Another order is another order: it must not be taken for a repetition of the last one.
  useEffect(() => {
    setKey(crypto.randomUUID());
    if (!command.isBusy) command.reset();
  }, [text]);

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

  const submit = (event: Event): void => {
    event.preventDefault();
    setTried(true);
    setPlaced(undefined);
    if (order === undefined) return;
    const sent = atShownPrice(order, {
      preview: preview?.ok === true ? preview.data : undefined,
      book: shownBook.peek(),
      feeRateBps: rules?.feeRateBps ?? USUAL_RATE_BPS,
    });
    const pending = { idempotencyKey: key, marketTitle: market.title, order: sent };
    const onDone = (done: PlacedOrder): void => {
      setPlaced(done);
      setKey(crypto.randomUUID());
      setTried(false);
      // What was ordered is done: its figures must not stand beside its result.
      onChange({ quantity: "", budget: "" });
    };
    sentKey.current = key;
    void command.give(() => placeOrder(pending, { isWatched: true }), onDone);
  };

  return (
    <section class="panel ticket" aria-labelledby="ticket-title">
      <h2 id="ticket-title" class="unseen">
        New order
      </h2>
      <form onSubmit={submit} noValidate>
        <TradeChoices market={market} ticket={ticket} onChange={onChange} />
        <TicketFields ticket={ticket} errors={isTried ? (errors ?? {}) : {}} onChange={onChange} />
        {order !== undefined && isSignedIn.value && (
          <OrderPreview order={order} result={preview} knownCode={command.problem?.code} />
        )}
        {isSignedIn.value ? (
          <Submit
            tone={ticket.side}
            isBusy={command.isBusy}
            busyText={isWaiting ? "No answer yet, trying again…" : "Sending…"}
          >
            {ticket.orderType === "buy" ? "Buy" : "Sell"} {ticket.side.toUpperCase()}
          </Submit>
        ) : (
          <a class="button button-main button-wide" href={`/sign-in?back=/markets/${market.id}`}>
            Sign in to trade
          </a>
        )}
      </form>
      <SendProblem problem={command.problem} />
      {placed !== undefined && (
        <OrderNotice key={placed.order.id} id={placed.order.id} first={outcomeOf(placed)} />
      )}
    </section>
  );
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

/** Orders without an answer have their notice on every page. */
function SendProblem({ problem }: { problem: Problem | undefined }): JSX.Element {
  return problem !== undefined && isUncertain(problem) ? (
    <p class="field-error">There was no answer: see the notice at the top of the page.</p>
  ) : (
    <ProblemNotice problem={problem} />
  );
}

function outcomeOf({ order, feeCents }: PlacedOrder): Outcome {
  return { ...order, averagePrice: null, feeCents };
}
