import type { JSX } from "preact";
import { Choice } from "../choice.tsx";
import { Checkbox, Field } from "../field.tsx";
import { QuickAmounts } from "./quick_amounts.tsx";
import { optionWords } from "./ticket_order.ts";
import type { Ticket, TicketErrors } from "./ticket_order.ts";

interface TicketFieldsProps {
  ticket: Ticket;
  errors: TicketErrors;
  onChange: (change: Partial<Ticket>) => void;
}

const kinds = [
  { value: "budget", label: "Amount" },
  { value: "limit", label: "Limit" },
  { value: "market", label: "Shares now" },
] as const;

const hints: Record<Ticket["kind"], string> = {
  budget:
    "Buys as many shares at once as the amount pays for, fee included, at no worse price than its figures say.",
  limit:
    "Trades at this price or better; what is left waits in the book. Say how many shares, or an amount that pays for them with the fee.",
  market: "Trades at once, at no worse price than its figures say; what is left is cancelled.",
};

/** A sale has no amount. */
const saleHints: Record<Ticket["kind"], string> = {
  ...hints,
  limit: "Trades at this price or better; what is left waits in the book.",
};

/** How much, at what price, and for how long. */
export function TicketFields({ ticket, errors, onChange }: TicketFieldsProps): JSX.Element {
  const { kind, orderType } = ticket;
  const hasAmount = orderType === "buy" && kind !== "market";
  return (
    <>
      <Choice
        label="Kind of order"
        value={kind}
        options={orderType === "sell" ? kinds.slice(1) : kinds}
        onChange={(value) => {
          onChange({ kind: value });
        }}
      />
      <p class="hint ticket-hint">{(orderType === "sell" ? saleHints : hints)[kind]}</p>
      {hasAmount && (
        <>
          <Field
            label="Amount"
            name="budget"
            unit="€"
            inputMode="decimal"
            value={ticket.budget}
            error={errors.budget}
            onValue={(budget) => {
              onChange({ budget, quantity: "" });
            }}
          />
          <QuickAmounts ticket={ticket} onChange={onChange} />
        </>
      )}
      <div class="field-pair">
        {kind === "limit" && (
          <Field
            label="Price"
            name="price"
            unit="¢"
            inputMode="numeric"
            value={ticket.price}
            error={errors.price}
            onValue={(price) => {
              onChange({ price });
            }}
          />
        )}
        {kind !== "budget" && (
          <Field
            label="Shares"
            name="quantity"
            inputMode="numeric"
            value={ticket.quantity}
            error={errors.quantity}
            onValue={(quantity) => {
              onChange({ quantity, budget: "" });
            }}
          />
        )}
      </div>
      {kind === "limit" && <MoreFields ticket={ticket} errors={errors} onChange={onChange} />}
    </>
  );
}

function MoreFields({ ticket, errors, onChange }: TicketFieldsProps): JSX.Element {
  const chosen = optionWords(ticket);
  return (
    <details class="more">
      <summary>More options{chosen !== "" && `: ${chosen}`}</summary>
      <Field
        label="Cancel at"
        name="expiresAt"
        type="datetime-local"
        value={ticket.expiresAt}
        error={errors.expiresAt}
        hint="Empty: good until you cancel it."
        onValue={(expiresAt) => {
          onChange({ expiresAt });
        }}
      />
      <Checkbox
        label="Post only"
        hint="Refused if it would trade at once, so it pays no fee."
        isChecked={ticket.postOnly}
        onChange={(postOnly) => {
          onChange({ postOnly, ...(postOnly && { immediateOrCancel: false }) });
        }}
      />
      <Checkbox
        label="Immediate or cancel"
        hint="What does not trade at once is cancelled."
        isChecked={ticket.immediateOrCancel}
        onChange={(immediateOrCancel) => {
          onChange({ immediateOrCancel, ...(immediateOrCancel && { postOnly: false }) });
        }}
      />
    </details>
  );
}
