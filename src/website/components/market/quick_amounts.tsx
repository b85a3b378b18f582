import type { JSX } from "preact";
import { account } from "../../api/account.ts";
import { formatVolume, parseCount } from "../../format.ts";
import { sharesFor } from "./shares_for.ts";
import { inRange } from "./ticket_order.ts";
import type { Ticket } from "./ticket_order.ts";

const AMOUNTS = [500, 2000, 5000];
/** Of a budget order. */
const MOST_CENTS = 1_000_000;

interface QuickAmountsProps {
  ticket: Ticket;
  feeRateBps: number;
  onChange: (change: Partial<Ticket>) => void;
}

/** Buttons that fill in an amount, or as many shares as it pays for at the limit. */
export function QuickAmounts(props: QuickAmountsProps): JSX.Element | null {
  const { ticket, feeRateBps, onChange } = props;
  const { kind, orderType } = ticket;
  const price = inRange(parseCount(ticket.price), 1, 99);
  const cash = account.value?.balance;
  if (orderType === "sell" || kind === "market") return null;
  const fill = (cents: number): void => {
    if (kind === "budget") onChange({ budget: (Math.min(cents, MOST_CENTS) / 100).toFixed(2) });
    else if (price !== undefined) {
      onChange({ quantity: String(sharesFor(cents, price, feeRateBps)) });
    }
  };
  const button = (cents: number, label: string): JSX.Element => (
    <button
      key={label}
      type="button"
      class="button button-small"
      disabled={kind === "limit" && price === undefined}
      onClick={() => {
        fill(cents);
      }}
    >
      {label}
    </button>
  );
  return (
    <div class="quick-amounts" role="group" aria-label="Buy for an amount, fee included">
      {AMOUNTS.map((cents) => button(cents, formatVolume(cents)))}
      {cash !== undefined && cash > 0 && button(cash, "Max")}
    </div>
  );
}
