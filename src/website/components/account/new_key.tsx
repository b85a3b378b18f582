import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { MadeKey } from "../../api/types.ts";
import { Notice } from "../notice.tsx";

interface NewKeyProps {
  made: MadeKey;
  onDone: () => void;
}

/** A new key, shown this once. */
export function NewKey({ made, onDone }: NewKeyProps): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(made.key);
    setCopied(true);
  };
  return (
    <Notice kind="good">
      <p>
        <strong>{made.name}</strong>: copy the key now. It is not shown again.
      </p>
      <code class="key">{made.key}</code>
      <div class="button-row">
        <button type="button" class="button button-small" onClick={() => void copy()}>
          {isCopied ? "Copied" : "Copy the key"}
        </button>
        <button type="button" class="button button-small button-quiet" onClick={onDone}>
          I have it
        </button>
      </div>
    </Notice>
  );
}
