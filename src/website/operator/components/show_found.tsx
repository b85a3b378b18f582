import type { ComponentChildren, JSX } from "preact";
import { Empty, Show } from "../../components/states.tsx";
import type { Asked } from "../../hooks/use_asked.ts";

interface ShowFoundProps<Found> {
  asked: Asked<Found | undefined>;
  /** What a page is about, such as "Market". */
  kind: string;
  children: (found: Found) => ComponentChildren;
}

/** Shows what a page is about, or that there is no such thing. */
export function ShowFound<Found>({ asked, kind, children }: ShowFoundProps<Found>): JSX.Element {
  const isNone = asked.data === undefined && asked.problem === undefined && !asked.isLoading;
  if (isNone) return <Empty title={`There is no such ${kind.toLowerCase()}.`} />;
  return (
    <Show asked={asked} title={kind}>
      {children}
    </Show>
  );
}
