import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { adviceOn } from "../../api/advice.ts";
import { ownApi } from "../../api/client.ts";
import { ownVersion } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { PlaceOrder, Preview } from "../../api/types.ts";
import { formatCents, formatPrice, formatShares } from "../../format.ts";

const PAUSE_AFTER_TYPING_MS = 300;

/** Shows what an order would do now, in the server's figures. */
export function OrderPreview({ order }: { order: PlaceOrder }): JSX.Element {
  const [answered, setAnswered] = useState<{ text: string; result: Result<Preview> }>();
  const text = JSON.stringify(order);
  useEffect(() => {
    let isLatest = true;
    const timer = setTimeout(() => {
      void resultOf(ownApi.POST("/api/v1/orders/preview", { body: order })).then((result) => {
        if (isLatest) setAnswered({ text, result });
      });
    }, PAUSE_AFTER_TYPING_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [text, ownVersion.value]);

  // Figures of another order must not be taken for those of this one.
  const result = answered?.text === text ? answered.result : undefined;
  return (
    <div class="preview" aria-live="polite">
      {result === undefined && <p class="muted">Working out what this does…</p>}
      {result?.ok === false && <p class="field-error">{adviceOn(result.problem).text}</p>}
      {result?.ok === true && <PreviewFigures preview={result.data} order={order} />}
    </div>
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
  return (
    <>
      <dl class="figures">
        {figuresOf(preview, order).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {status === "scheduled" && (
        <p class="hint">
          Live market: the order is released after a short delay, at the prices of that moment.
        </p>
      )}
    </>
  );
}

function figuresOf(preview: Preview, order: PlaceOrder): [string, string][] {
  const { filledQuantity, averagePrice, costCents, feeCents, restingQuantity } = preview;
  const isBuy = order.orderType !== "sell";
  const figures: [string, string][] = [];
  if (filledQuantity > 0) {
    figures.push(["Trades now", formatShares(filledQuantity)]);
    figures.push(["Average price", formatPrice(averagePrice)]);
    figures.push(["Fee", formatCents(feeCents)]);
    figures.push(
      isBuy
        ? ["You pay", formatCents(costCents + feeCents)]
        : ["You get", formatCents(-costCents - feeCents)],
    );
  }
  if (restingQuantity > 0) figures.push(["Waits in the book", formatShares(restingQuantity)]);
  if (isBuy && filledQuantity > 0) {
    const side = order.side.toUpperCase();
    figures.push([`If ${side} is right, pays`, formatCents(filledQuantity * 100)]);
    figures.push(["If it is wrong, you lose", formatCents(costCents + feeCents)]);
  }
  figures.push(["Cash afterwards", formatCents(preview.balanceAfter)]);
  return figures;
}
