import type { ComponentChildren, JSX } from "preact";

interface FactProps {
  name: ComponentChildren;
  /** Of its value. */
  class?: string;
  children: ComponentChildren;
}

/** A figure with its name, within a `dl`. */
export function Fact({ name, class: className, children }: FactProps): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={className}>{children}</dd>
    </div>
  );
}
