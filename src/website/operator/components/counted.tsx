import type { JSX } from "preact";
import { useAsked } from "../../hooks/use_asked.ts";
import { ask, changes } from "../api/graphql.ts";
import { readTotal } from "../api/pages.ts";
import { showTotal } from "../api/values.ts";
import { wordsOf } from "../api/words.ts";
import type { Condition, View } from "../views/view.ts";

interface CountedProps {
  label: string;
  view: View;
  where?: Condition;
  /** The list of the rows that are counted. */
  href: string;
}

/** How many rows there are, and a link to them. */
export function Counted({ label, view, where, href }: CountedProps): JSX.Element {
  const { data, problem } = useAsked(
    () => readTotal(ask, view, where),
    [view.list, JSON.stringify(where), changes.value],
  );
  return (
    <a class="counted panel" href={href}>
      <span class="big-number">{data === undefined ? "–" : showTotal(data)}</span>
      <span>{label}</span>
      {problem !== undefined && <span class="muted small">{wordsOf(problem)}</span>}
    </a>
  );
}
