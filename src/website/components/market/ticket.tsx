import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { placeOrder } from "../../api/orders.ts";
import { isSignedIn } from "../../api/session.ts";
import type { Market, PlacedOrder } from "../../api/types.ts";
import { formatCents, formatPrice, formatShares } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Choice } from "../choice.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { OrderPreview } from "./order_preview.tsx";
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
  const [isWaiting, setWaiting] = useState(false);
  const [placed, setPlaced] = useState<PlacedOrder>();
  const { order, errors } = orderOf(ticket, market.id);
  const text = JSON.stringify(order);

  // Another order is another order: it must not be taken for a repetition of the last one.
  useEffect(() => {
    setKey(crypto.randomUUID());
  }, [text]);

  const submit = (event: Event): void => {
    event.preventDefault();
    setTried(true);
    setPlaced(undefined);
    if (order === undefined) return;
    const pending = { idempotencyKey: key, marketTitle: market.title, order };
    const send = (): ReturnType<typeof placeOrder> =>
      placeOrder(pending, () => {
        setWaiting(true);
      });
    const onDone = (done: PlacedOrder): void => {
      setPlaced(done);
      setKey(crypto.randomUUID());
      setTried(false);
    };
    void command.give(send, onDone).then(() => {
      setWaiting(false);
    });
  };

  return (
    <section class="panel ticket" aria-labelledby="ticket-title">
      <h2 id="ticket-title" class="unseen">
        New order
      </h2>
      <form onSubmit={submit} noValidate>
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
        <TicketFields ticket={ticket} errors={isTried ? (errors ?? {}) : {}} onChange={onChange} />
        {order !== undefined && isSignedIn.value && <OrderPreview order={order} />}
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
      <ProblemNotice problem={command.problem} />
      {placed !== undefined && <Placed placed={placed} />}
    </section>
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

/** What became of an order. */
function Placed({ placed }: { placed: PlacedOrder }): JSX.Element {
  const { order, feeCents, balance } = placed;
  const fee = feeCents === null ? "" : ` Fee ${formatCents(feeCents)}.`;
  const rest = order.quantity - order.filledQuantity;
  if (order.status === "scheduled") {
    return (
      <Notice kind="info">
        Accepted. This is a live market: the order is released in a few seconds. You can cancel it
        until then.
      </Notice>
    );
  }
  const words =
    order.filledQuantity === 0
      ? `Your order waits in the book for ${formatShares(rest)}.`
      : `${formatShares(order.filledQuantity)} traded.${fee}` +
        (rest > 0 && order.status !== "cancelled"
          ? ` ${formatShares(rest)} wait in the book.`
          : rest > 0
            ? ` The rest found no match and was cancelled.`
            : "");
  return (
    <Notice kind="good">
      {words} Cash {formatCents(balance.total)}.
    </Notice>
  );
}
