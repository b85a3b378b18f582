import test from "ava";
import { orderWords, outcomeWords } from "../../src/website/components/order_words.ts";
import type { Outcome } from "../../src/website/components/order_words.ts";

test("an order is named by its budget if it has one, and not by shares that it lacks", (t) => {
  const terms = { orderType: "buy", side: "yes", price: 99, quantity: 0 } as const;
  t.is(orderWords({ ...terms, budgetCents: 1250 }), "Buy YES, budget €12.50");
  t.is(orderWords({ ...terms, price: 60, quantity: 7, budgetCents: null }), "Buy 7 YES at 60¢");
  const sale = { orderType: "sell", side: "no", price: null, quantity: 5 } as const;
  t.is(orderWords(sale), "Sell 5 NO at the market's price");
});

test("what became of an order is said with price, fee, and why it ended", (t) => {
  const order: Outcome = {
    ...{ status: "scheduled", quantity: 10, filledQuantity: 0, averagePrice: null },
    ...{ feeCents: null, cancelReason: null },
  };
  t.regex(outcomeWords(order), /^Accepted\. .*cancel it until then\.$/);
  t.is(outcomeWords({ ...order, status: "open" }), "Your order waits in the book for 10 shares.");
  const bought = { filledQuantity: 10, averagePrice: 60.5, feeCents: 17 } as const;
  const words = "10 shares traded at 60.5¢ on average. Fee €0.17.";
  t.is(outcomeWords({ ...order, ...bought, status: "filled" }), words);
  t.is(
    outcomeWords({ ...order, ...bought, quantity: 12, status: "partially_filled" }),
    `${words} The order waits in the book for 2 shares more.`,
  );
  t.is(
    outcomeWords({ ...order, status: "cancelled", cancelReason: "insufficient_liquidity" }),
    "The order was cancelled: the book had no more for it. Nothing was traded.",
  );
  t.regex(
    outcomeWords({ ...order, status: "cancelled", cancelReason: "market_closed" }),
    /: the market closed or was paused\./,
  );
  const cancelled = { ...order, status: "cancelled", cancelReason: "user_cancelled" } as const;
  t.regex(outcomeWords(cancelled), /: you or an operator cancelled it\. Nothing was traded\.$/);
  t.is(outcomeWords(cancelled, true), "You cancelled the order. Nothing was traded.");
  t.is(
    outcomeWords({ ...cancelled, ...bought, quantity: 12 }, true),
    `${words} You cancelled the rest.`,
  );
});
