import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { amendOrder } from "../../api/orders.ts";
import type { Order } from "../../api/types.ts";
import { parseCount } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field } from "../field.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";

interface AmendFormProps {
  order: Order;
  onDone: () => void;
}

/** Changes the price or the size of an open order, in place. */
export function AmendForm({ order, onDone }: AmendFormProps): JSX.Element {
  const [price, setPrice] = useState(String(order.price));
  const [quantity, setQuantity] = useState(String(order.quantity));
  const command = useCommand();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector("input")?.focus();
  }, []);
  const wanted = { price: parseCount(price), quantity: parseCount(quantity) };
  const submit = (event: Event): void => {
    event.preventDefault();
    const change = {
      ...(wanted.price !== undefined && wanted.price !== order.price && { price: wanted.price }),
      ...(wanted.quantity !== undefined &&
        wanted.quantity !== order.quantity && { quantity: wanted.quantity }),
    };
    if (Object.keys(change).length === 0) onDone();
    else void command.give(() => amendOrder(order.id, change), onDone);
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
          error={wanted.quantity === undefined ? "Give a whole number." : undefined}
          onValue={setQuantity}
        />
      </div>
      <p class="hint">A smaller size keeps the place in the queue; any other change loses it.</p>
      <Submit
        isBusy={command.isBusy}
        disabled={wanted.price === undefined || wanted.quantity === undefined}
      >
        Save the change
      </Submit>
      <ProblemNotice problem={command.problem} />
    </form>
  );
}
