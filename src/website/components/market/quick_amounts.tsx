import type { JSX } from "preact";
import { account } from "../../api/account.ts";
import { formatVolume, parseCount } from "../../format.ts";
import { scarcestLimit } from "./limits_left.ts";
import { inRange } from "./ticket_order.ts";
import type { Ticket } from "./ticket_order.ts";

const AMOUNTS = [500, 2000, 5000];
/** Of a budget order. */
const MOST_CENTS = 1_000_000;

interface QuickAmountsProps {
  ticket: Ticket;
  onChange: (change: Partial<Ticket>) => void;
}

/** Buttons that fill in an amount: all cash, but no more than a loss limit leaves. */
export function QuickAmounts({ ticket, onChange }: QuickAmountsProps): JSX.Element {
  const price = inRange(parseCount(ticket.price), 1, 99);
  const own = account.value;
  const most = own && Math.min(own.balance, scarcestLimit(own.limits)?.leftCents ?? own.balance);
  const button = (cents: number, label: string): JSX.Element => (
    <button
      key={label}
      type="button"
      class="button button-small"
      disabled={ticket.kind === "limit" && price === undefined}
      onClick={() => {
        onChange({ budget: (Math.min(cents, MOST_CENTS) / 100).toFixed(2), quantity: "" });
      }}
    >
      {label}
    </button>
  );
  return (
    <div class="quick-amounts" role="group" aria-label="Buy for an amount, fee included">
      {AMOUNTS.map((cents) => button(cents, formatVolume(cents)))}
      {most !== undefined && most > 0 && button(most, "Max")}
    </div>
  );
}
