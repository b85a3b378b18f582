import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { adviceOn } from "../../api/advice.ts";
import { ownApi } from "../../api/client.ts";
import { shownBook } from "../../api/market_stream.ts";
import { ownVersion } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { PlaceOrder, Preview } from "../../api/types.ts";
import { formatCents, formatPrice, formatShares } from "../../format.ts";
import { useRules } from "../../hooks/use_rules.ts";
import { bestPricesOf, farBeyond } from "./best_price.ts";
import { estimate } from "./estimate.ts";
import type { Estimate } from "./estimate.ts";

const PAUSE_AFTER_TYPING_MS = 300;
/** The book may change many times a second. */
const LEAST_BETWEEN_MS = 1000;

interface OrderPreviewProps {
  order: PlaceOrder;
  /** The code of a problem that is shown already. */
  knownCode?: string | undefined;
}

/** Shows what an order would do now, in the server's figures. They follow the book. */
export function OrderPreview({ order, knownCode }: OrderPreviewProps): JSX.Element | null {
  const [answered, setAnswered] = useState<{ text: string; result: Result<Preview> }>();
  const text = JSON.stringify(order);
  const bookText = JSON.stringify(shownBook.value);
  const asked = useRef({ text: "", at: -Infinity, round: 0, answeredRound: 0 });
  useEffect(() => {
    const last = asked.current;
    const wait =
      last.text === text
        ? Math.max(0, last.at + LEAST_BETWEEN_MS - performance.now())
        : PAUSE_AFTER_TYPING_MS;
    const timer = setTimeout(() => {
      const round = last.round + 1;
      Object.assign(last, { text, at: performance.now(), round });
      void resultOf(ownApi.POST("/api/v1/orders/preview", { body: order })).then((result) => {
        if (round < last.answeredRound || last.text !== text) return;
        last.answeredRound = round;
        setAnswered({ text, result });
      });
    }, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [text, bookText, ownVersion.value]);

  // Figures of another order must not be taken for those of this one.
  const result = answered?.text === text ? answered.result : undefined;
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
  if (rejection !== null) {
    const { text, next } = adviceOn(rejection);
    return (
      <p class="field-error">
        {text} {next && <a href={next.href}>{next.label}</a>}
      </p>
    );
  }
  if (status === "scheduled") return <LiveFigures order={order} />;
  const figures = figuresOf(preview, order);
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
  const { filledQuantity, averagePrice, costCents, feeCents, restingQuantity } = preview;
  const isBuy = order.orderType !== "sell";
  const side = order.side.toUpperCase();
  const figures: [string, string][] = [];
  if (filledQuantity > 0) {
    figures.push([trades, formatShares(filledQuantity)]);
    figures.push(["Average price", formatPrice(averagePrice)]);
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
