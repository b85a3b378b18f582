import type { JSX } from "preact";
import { useState } from "preact/hooks";

interface RemovalProps {
  /** What is removed. */
  name: string;
  /** What the button says, such as "Revoke". */
  verb: string;
  isBusy: boolean;
  onSure: () => void;
}

/** A button that asks once more before something is removed for good. */
export function Removal({ name, verb, isBusy, onSure }: RemovalProps): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking) {
    return (
      <button
        type="button"
        class="button button-small"
        aria-label={`${verb} ${name}`}
        onClick={() => {
          setAsking(true);
        }}
      >
        {verb}
      </button>
    );
  }
  return (
    <div class="button-row">
      <button
        type="button"
        class="button button-small button-danger"
        disabled={isBusy}
        onClick={onSure}
      >
        {verb} for good
      </button>
      <button
        type="button"
        class="button button-small button-quiet"
        onClick={() => {
          setAsking(false);
        }}
      >
        Keep
      </button>
    </div>
  );
}
