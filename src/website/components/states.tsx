import type { ComponentChildren, JSX } from "preact";
import type { Asked } from "../hooks/use_asked.ts";
import { Boundary } from "./boundary.tsx";
import { Failed } from "./failed.tsx";

/** Lines in the place of what is being loaded. */
export function Loading({ lines = 3 }: { lines?: number }): JSX.Element {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="loading-line" />
      ))}
    </div>
  );
}

interface EmptyProps {
  title: string;
  children?: ComponentChildren;
}

/** What to say where there is nothing, and what to do about it. */
export function Empty({ title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="muted">{children}</div>}
    </div>
  );
}

interface ShowProps<Data> {
  asked: Asked<Data | undefined>;
  lines?: number;
  /** The heading of a whole page, until its data brings its own. */
  title?: string;
  children: (data: Data) => ComponentChildren;
}

/** Shows data once it is there; until then that it is loading, or why it is not there. */
export function Show<Data>({ asked, lines = 3, title, children }: ShowProps<Data>): JSX.Element {
  const { data, problem, askAgain } = asked;
  if (data !== undefined) {
    return (
      <Boundary data={data} onRetry={askAgain}>
        <Shown>{() => children(data)}</Shown>
      </Boundary>
    );
  }
  return (
    <>
      {title !== undefined && <h1>{title}</h1>}
      {problem === undefined ? (
        <Loading lines={lines} />
      ) : (
        <Failed problem={problem} onRetry={askAgain} />
      )}
    </>
  );
}

/** Draws within the boundary what would else be drawn around it. */
function Shown({ children }: { children: () => ComponentChildren }): JSX.Element {
  return <>{children()}</>;
}
