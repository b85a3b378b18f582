import type { JSX } from "preact";
import { adviceOn } from "../../api/advice.ts";
import { shownBook } from "../../api/market_stream.ts";
import type { Result } from "../../api/result.ts";
import type { PlaceOrder, Preview } from "../../api/types.ts";
import { formatCents, formatPrice, formatShares } from "../../format.ts";
import { useRules } from "../../hooks/use_rules.ts";
import { address } from "../../router.ts";
import { bestPricesOf, farBeyond } from "./best_price.ts";
import { estimate } from "./estimate.ts";
import type { Estimate } from "./estimate.ts";
import { worstFillPrice } from "./shown_price.ts";
import { useRejectionWords } from "./use_rejection_words.ts";

interface OrderPreviewProps {
  order: PlaceOrder;
  /** Undefined until it is known. */
  result: Result<Preview> | undefined;
  /** The code of a problem that is shown already. */
  knownCode?: string | undefined;
}

/** Shows what an order would do now, in the server's figures. */
export function OrderPreview(props: OrderPreviewProps): JSX.Element | null {
  const { order, result, knownCode } = props;
  const code = result?.ok === true ? result.data.rejection?.code : result?.problem.code;
  if (code !== undefined && code === knownCode) return null;
  return (
    <div class="preview" aria-live="polite">
      <FarLimit order={order} />
      {result === undefined && <p class="muted">Working out what this does…</p>}
      {result?.ok === false && <p class="field-error">{adviceOn(result.problem).text}</p>}
      {result?.ok === true && <PreviewFigures preview={result.data} order={order} />}
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

interface FiguresProps {
  preview: Preview;
  order: PlaceOrder;
}

function PreviewFigures({ preview, order }: FiguresProps): JSX.Element {
  const { rejection, status } = preview;
  const words = useRejectionWords(rejection?.code, order, order.marketId);
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
  const figures = figuresOf({ ...preview, worstPrice }, order);
  return <Figures figures={[...figures, ["Cash afterwards", formatCents(preview.balanceAfter)]]} />;
}

/** The server cannot say what an order will meet: the page goes by the book that it shows. */
function LiveFigures({ order }: { order: PlaceOrder }): JSX.Element {
  const rules = useRules(order.marketId);
  const book = shownBook.value;
  const delay = rules?.liveDelayMs;
  const figures =
    rules === undefined || book === undefined
      ? undefined
      : figuresOf(estimate(order, book, rules), order, "Would trade");
  return (
    <>
      <p class="hint">
        Live market: the order waits {typeof delay === "number" ? `${delay / 1000} s` : "a little"},
        then it trades at the prices of that moment.
        {figures !== undefined && " If the book stays as it is:"}
      </p>
      {figures !== undefined &&
        (figures.length === 0 ? (
          <p>It finds no match, and is cancelled.</p>
        ) : (
          <Figures figures={figures} />
        ))}
    </>
  );
}

function Figures({ figures }: { figures: [string, string][] }): JSX.Element {
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function figuresOf(
  preview: Estimate,
  order: PlaceOrder,
  trades = "Trades now",
): [string, string][] {
  const { filledQuantity, averagePrice, worstPrice, costCents, feeCents, restingQuantity } =
    preview;
  const isBuy = order.orderType !== "sell";
  const side = order.side.toUpperCase();
  const figures: [string, string][] = [];
  if (filledQuantity > 0) {
    figures.push([trades, formatShares(filledQuantity)]);
    figures.push(["Average price", formatPrice(averagePrice)]);
    if (typeof order.price !== "number") {
      figures.push([isBuy ? "Highest price" : "Lowest price", formatPrice(worstPrice)]);
    }
    figures.push(["Fee", formatCents(feeCents)]);
    figures.push(
      isBuy
        ? ["You pay", formatCents(costCents + feeCents)]
        : ["You get", formatCents(-costCents - feeCents)],
    );
  }
  if (isBuy && filledQuantity > 0) {
    figures.push([`If ${side} is right, pays`, formatCents(filledQuantity * 100)]);
    figures.push(["If it is wrong, you lose", formatCents(costCents + feeCents)]);
  }
  if (restingQuantity > 0) {
    figures.push(["Waits in the book", formatShares(restingQuantity)]);
    const atPrice = formatCents(restingQuantity * (order.price ?? 0));
    if (isBuy) {
      figures.push(["If that trades, it costs", atPrice]);
      figures.push([`and pays, if ${side} is right`, formatCents(restingQuantity * 100)]);
    } else {
      figures.push(["If that trades, you get", atPrice]);
    }
  }
  return figures;
}
