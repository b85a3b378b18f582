import type { JSX } from "preact";
import { adviceOn } from "../../api/advice.ts";
import { shownBook } from "../../api/market_stream.ts";
import type { Result } from "../../api/result.ts";
import type { PlaceOrder, Preview } from "../../api/types.ts";
import { formatPrice } from "../../format.ts";
import { useRules } from "../../hooks/use_rules.ts";
import { address } from "../../router.ts";
import { bestPricesOf, farBeyond } from "./best_price.ts";
import { estimate } from "./estimate.ts";
import { OrderFigures } from "./order_figures.tsx";
import { worstFillPrice } from "./shown_price.ts";

interface OrderPreviewProps {
  order: PlaceOrder;
  /** Undefined until it is known. */
  result: Result<Preview> | undefined;
  /** Whether an order has no answer: that says already that the server gives none. */
  isInDoubt?: boolean;
  /** The code of a problem that is shown already. */
  knownCode?: string | undefined;
  /** Why it is rejected, in place of the usual words. */
  words: string | undefined;
}

/** Shows what an order would do now, in the server's figures. */
export function OrderPreview(props: OrderPreviewProps): JSX.Element | null {
  const { order, result, isInDoubt = false, knownCode, words } = props;
  const code = result?.ok === true ? result.data.rejection?.code : result?.problem.code;
  if (code !== undefined && code === knownCode) return null;
  return (
    <div class="preview" aria-live="polite">
      <FarLimit order={order} />
      {result === undefined && <p class="muted">Working out what this does…</p>}
      {result?.ok === false && !isInDoubt && (
        <p class="field-error">{adviceOn(result.problem).text}</p>
      )}
      {result?.ok === true && <PreviewFigures preview={result.data} {...{ order, words }} />}
    </div>
  );
}

/** Shows a visitor what an order to buy would do, by the book: previews are for users. */
export function GuestPreview({ order }: { order: PlaceOrder }): JSX.Element | null {
  const rules = useRules(order.marketId);
  const book = shownBook.value;
  if (order.orderType === "sell" || rules === undefined || book === undefined) return null;
  const done = estimate(order, book, rules);
  const isRefused = order.postOnly === true && done.filledQuantity > 0;
  return (
    <div class="preview" aria-live="polite">
      <FarLimit order={order} />
      {isRefused ? (
        <p class="field-error">
          {adviceOn({ status: 400, error: "", code: "POST_ONLY_WOULD_CROSS" }).text}
        </p>
      ) : rules.live ? (
        <LiveFigures order={order} />
      ) : (
        <OrderFigures order={order} done={done} />
      )}
    </div>
  );
}

/** Says that a limit gives away more than the best price asks for. */
function FarLimit({ order }: { order: PlaceOrder }): JSX.Element | null {
  const book = shownBook.value;
  const best = book === undefined ? undefined : farBeyond(bestPricesOf(book), order);
  if (best === undefined) return null;
  const [limit, bestPrice] = [formatPrice(order.price ?? null), formatPrice(best)];
  return (
    <p class="notice notice-warn">
      {order.orderType === "sell"
        ? `Your limit of ${limit} is far below the best price, ${bestPrice}: the order takes every bid down to it.`
        : `Your limit of ${limit} is far above the best price, ${bestPrice}: the order takes every offer up to it.`}
    </p>
  );
}

interface FiguresProps extends Pick<OrderPreviewProps, "order" | "words"> {
  preview: Preview;
}

function PreviewFigures({ preview, order, words }: FiguresProps): JSX.Element {
  const { rejection, status } = preview;
  if (rejection !== null) {
    const { text, next } = adviceOn(rejection, address.value);
    return (
      <p class="field-error">
        {words ?? text} {next && <a href={next.href}>{next.label}</a>}
      </p>
    );
  }
  if (status === "scheduled") return <LiveFigures order={order} />;
  const worstPrice = worstFillPrice(order, preview.fills) ?? null;
  const done = { ...preview, worstPrice };
  return <OrderFigures order={order} done={done} balanceAfter={preview.balanceAfter} />;
}

/** The server cannot say what an order will meet: the page goes by the book that it shows. */
function LiveFigures({ order }: { order: PlaceOrder }): JSX.Element {
  const rules = useRules(order.marketId);
  const book = shownBook.value;
  const delay = rules?.liveDelayMs;
  const done = rules === undefined || book === undefined ? undefined : estimate(order, book, rules);
  return (
    <>
      <p class="hint">
        Live market: the order waits {typeof delay === "number" ? `${delay / 1000} s` : "a little"},
        then it trades at the prices of that moment.
        {done !== undefined && " If the book stays as it is:"}
      </p>
      {done !== undefined && <OrderFigures order={order} done={done} isLater />}
    </>
  );
}
