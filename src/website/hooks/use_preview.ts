import { useEffect, useRef, useState } from "preact/hooks";
import { ownApi } from "../api/client.ts";
import { notePaused, noteTrading, pause } from "../api/exchange.ts";
import { shownBook } from "../api/market_stream.ts";
import { ownVersion } from "../api/own_changes.ts";
import { pendingOrders } from "../api/pending_order.ts";
import { paceMs } from "../api/quota.ts";
import { resultOf, retryDelayMs } from "../api/result.ts";
import type { Result } from "../api/result.ts";
import type { PlaceOrder, Preview } from "../api/types.ts";

const PAUSE_AFTER_TYPING_MS = 300;
/** The book may change many times a second. */
const LEAST_BETWEEN_MS = 1000;

/**
 * What an order would do now, as the server says. It follows the book, and comes again where it was
 * refused for some seconds; undefined until it is known.
 */
export function usePreview(order: PlaceOrder | undefined): Result<Preview> | undefined {
  const [answered, setAnswered] = useState<{ text: string; result: Result<Preview> }>();
  const text = order === undefined ? "" : JSON.stringify(order);
  const bookText = JSON.stringify(shownBook.value);
  // The book changes by the order itself. Its answer says more than a preview.
  const isSending = pendingOrders.value.some(
    ({ isWatched, state }) => isWatched && state === "sending",
  );
  const asked = useRef({ text: "", at: -Infinity, round: 0, answeredRound: 0 });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const last = asked.current;
    if (order === undefined) {
      last.text = "";
      setAnswered(undefined);
      return undefined;
    }
    if (isSending) return undefined;
    const wait =
      last.text === text
        ? Math.max(0, last.at + Math.max(LEAST_BETWEEN_MS, paceMs()) - performance.now())
        : PAUSE_AFTER_TYPING_MS;
    const timer = setTimeout(() => {
      const round = last.round + 1;
      Object.assign(last, { text, at: performance.now(), round });
      void resultOf(ownApi.POST("/api/v1/orders/preview", { body: order })).then((result) => {
        if (round < last.answeredRound || last.text !== text) return;
        last.answeredRound = round;
        if (result.ok) noteAnswer(result.data);
        setAnswered({ text, result });
      });
    }, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [text, bookText, isSending, ownVersion.value, pause.value, tries]);
  useEffect(() => {
    if (answered?.text !== text || answered.result.ok) return undefined;
    const wait = retryDelayMs(answered.result.problem);
    if (wait === undefined) return undefined;
    const timer = setTimeout(() => {
      asked.current.at = -Infinity;
      setTries((count) => count + 1);
    }, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [answered, text]);
  // Figures of another order must not be taken for those of this one.
  return answered?.text === text ? answered.result : undefined;
}

/** A preview says whether the exchange is paused. */
function noteAnswer({ rejection }: Preview): void {
  if (rejection === null) noteTrading();
  else notePaused(rejection.code);
}
