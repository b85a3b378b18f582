import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ownVersion } from "../../api/own_changes.ts";
import type { Problem, Result } from "../../api/result.ts";
import { ProblemNotice } from "../notice.tsx";
import { Failed } from "../failed.tsx";
import { Empty, Loading } from "../states.tsx";
import { TableBox } from "../table_box.tsx";
import type { Column } from "../table_box.tsx";
import { joinedRows } from "./joined_rows.ts";

interface PageOf<Item> {
  data: Item[];
  nextCursor: string | null;
}

/** Which rows: as many as `limit`, from the cursor on. */
export interface PageQuery {
  limit: number;
  cursor?: string;
}

interface LongListProps<Item> {
  name: string;
  columns: Column[];
  ask: (query: PageQuery) => Promise<Result<PageOf<Item>>>;
  row: (item: Item) => ComponentChildren;
}

interface State<Item> {
  items: Item[] | undefined;
  next: string | undefined;
  problem: Problem | undefined;
}

const PAGE = 50;
/** The most that the server gives at once. */
const LONGEST_PAGE = 200;

/**
 * A table that is read page by page, newest first. What is shown is read anew with everything else
 * of the user's, up to the longest page; older rows stay.
 */
export function LongList<Item extends { id: string | number }>(
  props: LongListProps<Item>,
): JSX.Element {
  const { name, columns, ask, row } = props;
  const [state, setState] = useState<State<Item>>({
    items: undefined,
    next: undefined,
    problem: undefined,
  });
  const shown = useRef(0);
  const newestAsked = useRef(0);
  const readAnew = async (): Promise<void> => {
    const number = ++newestAsked.current;
    const result = await ask({ limit: Math.min(LONGEST_PAGE, Math.max(PAGE, shown.current)) });
    if (number !== newestAsked.current) return;
    setState((before) => {
      if (!result.ok) return { ...before, problem: result.problem };
      const { data, nextCursor } = result.data;
      const joined = joinedRows(data, before.items ?? []);
      const isLonger = joined !== undefined && joined.length > data.length;
      const items = isLonger ? joined : data;
      shown.current = items.length;
      const following = isLonger ? before.next : (nextCursor ?? undefined);
      return { items, next: following, problem: undefined };
    });
  };
  // A page that is on its way is not asked for again, or it would be added twice.
  const moreAsked = useRef<string>(undefined);
  const readMore = async (cursor: string): Promise<void> => {
    if (cursor === moreAsked.current) return;
    moreAsked.current = cursor;
    const result = await ask({ limit: PAGE, cursor });
    moreAsked.current = undefined;
    setState((before) => {
      if (!result.ok) return { ...before, problem: result.problem };
      // The list was read anew meanwhile, and ends elsewhere.
      if (before.next !== cursor) return before;
      const { data, nextCursor } = result.data;
      const items = [...(before.items ?? []), ...data];
      shown.current = items.length;
      return { items, next: nextCursor ?? undefined, problem: undefined };
    });
  };
  useEffect(() => {
    void readAnew();
  }, [ownVersion.value]);

  const { items, next, problem } = state;
  if (items === undefined) {
    if (problem === undefined) return <Loading lines={4} />;
    return <Failed problem={problem} onRetry={() => void readAnew()} />;
  }
  if (items.length === 0) return <Empty title="Nothing here yet" />;
  return (
    <>
      <TableBox class="history" label={name} columns={columns}>
        {items.map((item) => (
          <tr key={item.id}>{row(item)}</tr>
        ))}
      </TableBox>
      <ProblemNotice problem={problem} />
      {next !== undefined && (
        <button type="button" class="button centred" onClick={() => void readMore(next)}>
          Show more
        </button>
      )}
    </>
  );
}
