import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";

interface PageProps {
  title: string;
  children: ComponentChildren;
}

/** A page with its heading, which also names the browser's tab. */
export function StaffPageBody({ title, children }: PageProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · pgmarkets for staff`;
  }, [title]);
  return (
    <div class="page">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

interface SectionProps {
  title: string;
  children: ComponentChildren;
}

/** A part of a page with a heading of its own. */
export function Section({ title, children }: SectionProps): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
