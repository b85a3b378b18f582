import type { ComponentChildren, JSX } from "preact";

interface SectionProps {
  id: string;
  title: string;
  children: ComponentChildren;
}

/** One part of the account, to which links can lead. */
export function Section({ id, title, children }: SectionProps): JSX.Element {
  return (
    <section class="panel section" id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{title}</h2>
      {children}
    </section>
  );
}
