import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { pause, readExchange, readExchangeEveryMs } from "../api/exchange.ts";
import { useEvery } from "../hooks/use_every.ts";
import { Notice } from "./notice.tsx";

/** What becomes of open orders while there is a pause. */
export const STAY_WORDS =
  "Open orders stay in the book; you can cancel yours. Orders that wait for their release are cancelled then.";

/** On every page: that the whole exchange is paused, and the operator's reason. */
export function PauseNotice(): JSX.Element | null {
  const read = (): void => void readExchange();
  useEffect(read, []);
  useEvery(readExchangeEveryMs.value, read);
  if (pause.value === undefined) return null;
  const { reason } = pause.value;
  return (
    <div class="wide-notice">
      <Notice kind="warn">
        <p>
          <strong>
            Trading is paused on the whole exchange{reason === null ? "." : `: ${reason}`}
          </strong>
        </p>
        <p>No orders are taken. {STAY_WORDS}</p>
      </Notice>
    </div>
  );
}
