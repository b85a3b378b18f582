import type { ComponentChildren, JSX } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { forgetAnswers } from "../api/kept_store.ts";
import { unreadable } from "../api/result.ts";
import { Failed } from "./failed.tsx";

interface BoundaryProps {
  /** What the children show. They are drawn again when it changes. */
  data?: unknown;
  /** Asks for other data. Without it the button draws the children anew, which then ask. */
  onRetry?: () => void;
  children: ComponentChildren;
}

/**
 * Shows a message and a button in the place of children that cannot be drawn, for example because an
 * answer has an unexpected shape. The same data is not drawn again by itself.
 */
export function Boundary({ data, onRetry, children }: BoundaryProps): JSX.Element {
  const [error, retry] = useErrorBoundary() as [unknown, () => void];
  useEffect(() => {
    if (error !== undefined) retry();
  }, [data]);
  if (error === undefined) return <>{children}</>;
  return (
    <Failed
      problem={unreadable}
      onRetry={() => {
        // The answer may be a kept one.
        forgetAnswers();
        (onRetry ?? retry)();
      }}
    />
  );
}
