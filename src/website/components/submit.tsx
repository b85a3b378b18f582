import type { ComponentChildren, JSX } from "preact";

interface SubmitProps {
  isBusy: boolean;
  children: ComponentChildren;
  tone?: "main" | "yes" | "no" | "danger";
  disabled?: boolean;
  busyText?: string;
}

/**
 * The button of a form. While the form is on its way it does nothing, and keeps the focus: a button
 * that is disabled would lose it.
 */
export function Submit(props: SubmitProps): JSX.Element {
  const { isBusy, children, tone = "main", disabled = false, busyText = "One moment…" } = props;
  return (
    <button
      type="submit"
      class={`button button-${tone} button-wide`}
      disabled={disabled}
      aria-disabled={isBusy}
      aria-busy={isBusy}
    >
      {isBusy ? busyText : children}
    </button>
  );
}
