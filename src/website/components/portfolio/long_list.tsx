import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ownVersion } from "../../api/own_changes.ts";
import type { Problem, Result } from "../../api/result.ts";
import { ProblemNotice } from "../notice.tsx";
import { Empty, Failed, Loading } from "../states.tsx";

interface PageOf<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** A head of the table. Those for wide windows only are left out on phones, with their cells. */
export interface Column {
  name: string;
  isWide?: boolean;
}

interface LongListProps<Item> {
  name: string;
  columns: Column[];
  ask: (cursor: string | undefined) => Promise<Result<PageOf<Item>>>;
  row: (item: Item) => ComponentChildren;
}

interface State<Item> {
  items: Item[] | undefined;
  next: string | undefined;
  problem: Problem | undefined;
}

/** A table that is read page by page, newest first. */
export function LongList<Item extends { id: string | number }>(
  props: LongListProps<Item>,
): JSX.Element {
  const { name, columns, ask, row } = props;
  const [state, setState] = useState<State<Item>>({
    items: undefined,
    next: undefined,
    problem: undefined,
  });
  // A page that is on its way is not asked for again, or it would be added twice.
  const asked = useRef<string>(undefined);
  const read = async (cursor: string | undefined): Promise<void> => {
    if (cursor !== undefined && cursor === asked.current) return;
    asked.current = cursor;
    const result = await ask(cursor);
    if (asked.current !== cursor) return;
    asked.current = undefined;
    setState((before) => {
      if (!result.ok) return { ...before, problem: result.problem };
      const { data, nextCursor } = result.data;
      const items = cursor === undefined ? data : [...(before.items ?? []), ...data];
      return { items, next: nextCursor ?? undefined, problem: undefined };
    });
  };
  useEffect(() => {
    void read(undefined);
  }, [ownVersion.value]);

  const { items, next, problem } = state;
  if (items === undefined) {
    if (problem === undefined) return <Loading lines={4} />;
    return <Failed problem={problem} onRetry={() => void read(undefined)} />;
  }
  if (items.length === 0) return <Empty title="Nothing here yet" />;
  return (
    <>
      <div class="table-box" tabIndex={0} role="region" aria-label={name}>
        <table class="table history">
          <thead>
            <tr>
              {columns.map(({ name: head, isWide }) => (
                <th key={head} scope="col" class={isWide === true ? "wide-only" : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.id}>{row(item)}</tr>
            ))}
          </tbody>
        </table>
      </div>
      <ProblemNotice problem={problem} />
      {next !== undefined && (
        <button type="button" class="button centred" onClick={() => void read(next)}>
          Show more
        </button>
      )}
    </>
  );
}
