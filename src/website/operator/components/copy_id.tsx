import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { shortId } from "../api/values.ts";

/** The end of an id, and a button that copies all of it. Without a clipboard it shows all of it. */
export function CopyId({ id, children }: { id: string; children?: JSX.Element }): JSX.Element {
  const [end, setEnd] = useState<"copied" | "failed">();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(id);
      setEnd("copied");
    } catch {
      setEnd("failed");
    }
  };
  const words = end === "copied" ? "Copied" : "Copy";
  return (
    <span class="copy-id">
      {children ?? (
        <span class="code" title={id}>
          {end === "failed" ? id : shortId(id)}
        </span>
      )}
      <button type="button" class="sort" aria-label={`${words} ${id}`} onClick={() => void copy()}>
        {words}
      </button>
    </span>
  );
}
