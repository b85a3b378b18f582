import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ListedOrder } from "../../api/answered_orders.ts";
import { amendOrder } from "../../api/orders.ts";
import type { AmendedOrder, PlaceOrder } from "../../api/types.ts";
import { formatCount, formatShares, parseCount } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { usePreview } from "../../hooks/use_preview.ts";
import { Field } from "../field.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { inRange } from "./ticket_order.ts";
import { OrderPreview } from "./order_preview.tsx";
import { useRejectionWords } from "./use_rejection_words.ts";

interface AmendFormProps {
  order: ListedOrder;
  onAmended: (amended: AmendedOrder) => void;
  onDone: () => void;
}

/** Changes the price or the size of an open order, in place. */
export function AmendForm({ order, onAmended, onDone }: AmendFormProps): JSX.Element {
  const [price, setPrice] = useState(String(order.price));
  const [quantity, setQuantity] = useState(String(order.quantity));
  const command = useCommand();
  const form = useRef<HTMLFormElement>(null);
  // Before the paint: who goes to another field at once stays there.
  useLayoutEffect(() => {
    form.current?.querySelector("input")?.focus();
  }, []);
  const wanted = wantedOf(order, price, quantity);
  const { filledQuantity } = order;
  const replacement = replacementOf(order, wanted);
  const code = command.problem?.code;
  // Of a limit the new order takes over the part of this one, which those figures do not know.
  const told = code === "LOSS_LIMIT" ? undefined : code;
  const words = useRejectionWords(told, replacement, order.marketId);
  useEffect(() => {
    // What was wrong with other terms is over.
    if (!command.isBusy) command.reset();
  }, [price, quantity]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const change = {
      ...(wanted.price !== undefined && wanted.price !== order.price && { price: wanted.price }),
      ...(wanted.quantity !== undefined &&
        wanted.quantity !== order.quantity && { quantity: wanted.quantity }),
    };
    if (Object.keys(change).length === 0) onDone();
    else {
      void command.give(
        () => amendOrder(order.id, change),
        (amended) => {
          onAmended(amended);
          onDone();
        },
      );
    }
  };
  return (
    <form
      class="amend"
      ref={form}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Escape") onDone();
      }}
      noValidate
    >
      <div class="field-pair">
        <Field
          label="Price"
          name="price"
          unit="¢"
          inputMode="numeric"
          value={price}
          error={wanted.price === undefined ? "Give a price from 1 to 99 cents." : undefined}
          onValue={setPrice}
        />
        <Field
          label="Shares in all"
          name="quantity"
          inputMode="numeric"
          value={quantity}
          error={
            wanted.quantity === undefined
              ? `Give a whole number of shares, from ${formatCount(filledQuantity + 1)} to 10,000.` +
                (filledQuantity > 0
                  ? ` ${formatShares(filledQuantity)} of it are filled already.`
                  : "")
              : undefined
          }
          onValue={setQuantity}
        />
      </div>
      <AmendPreview order={order} replacement={replacement} knownCode={code} {...wanted} />
      <Submit
        isBusy={command.isBusy}
        disabled={wanted.price === undefined || wanted.quantity === undefined}
      >
        Save the change
      </Submit>
      <ProblemNotice problem={command.problem} words={words} />
    </form>
  );
}

interface Wanted {
  price: number | undefined;
  quantity: number | undefined;
}

/** The new terms; undefined where they are not possible. */
function wantedOf({ filledQuantity }: ListedOrder, price: string, quantity: string): Wanted {
  return {
    price: inRange(parseCount(price), 1, 99),
    quantity: inRange(parseCount(quantity), filledQuantity + 1, 10_000),
  };
}

/** The order that takes the place of this one; undefined if its terms are not possible. */
function replacementOf(order: ListedOrder, { price, quantity }: Wanted): PlaceOrder | undefined {
  const { filledQuantity, marketId, orderType, side } = order;
  if (price === undefined || quantity === undefined) return undefined;
  return {
    ...{ marketId, side, orderType, price, quantity: quantity - filledQuantity },
    ...(order.timeInForce === "ioc" && { timeInForce: order.timeInForce }),
    ...(order.expiresAt !== null && { expiresAt: order.expiresAt }),
  };
}

interface AmendPreviewProps extends Wanted {
  order: ListedOrder;
  replacement: PlaceOrder | undefined;
  /** The code of a problem that is shown already. */
  knownCode: string | undefined;
}

/** What the order would do with its new terms. */
function AmendPreview(props: AmendPreviewProps): JSX.Element | null {
  const { order, price, quantity, replacement, knownCode } = props;
  if (price === order.price && quantity === order.quantity) {
    return (
      <p class="hint">A smaller size keeps the place in the queue; any other change loses it.</p>
    );
  }
  if (quantity === undefined || replacement === undefined) return null;
  const left = quantity - order.filledQuantity;
  if (order.status !== "scheduled" && price === order.price && quantity < order.quantity) {
    return (
      <p class="hint">
        The order keeps its place in the queue, and waits for {formatShares(left)}.
      </p>
    );
  }
  return (
    <>
      <p class="hint">
        A new order for {formatShares(left)} takes the place of this one. It trades at once if it
        can; else it goes to the back of the queue at its price. If you asked for post only, it is
        not changed when it would trade at once.
      </p>
      <ReplacementPreview order={replacement} knownCode={knownCode} />
    </>
  );
}

interface ReplacementProps extends Pick<AmendPreviewProps, "knownCode"> {
  order: PlaceOrder;
}

function ReplacementPreview({ order, knownCode }: ReplacementProps): JSX.Element {
  const result = usePreview(order);
  const code = result?.ok === true ? result.data.rejection?.code : undefined;
  const words = useRejectionWords(code, order, order.marketId);
  // A preview counts the present order as well, whose part of the limit the new one takes over.
  if (code === "LOSS_LIMIT") {
    return <p class="hint">Whether your loss limits allow it is known when you save it.</p>;
  }
  return <OrderPreview {...{ order, result, words, knownCode }} />;
}
