import type { JSX } from "preact";

/** In the place of a market or an event that does not exist. */
export function Unknown({ what }: { what: "market" | "event" }): JSX.Element {
  return (
    <div class="narrow">
      <h1>There is no such {what}</h1>
      <p>
        The link may be wrong. <a href="/">See all markets</a>.
      </p>
    </div>
  );
}
