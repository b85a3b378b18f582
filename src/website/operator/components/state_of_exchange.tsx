import type { JSX } from "preact";
import { Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { ask, changes } from "../api/graphql.ts";
import { readPage } from "../api/pages.ts";
import { views } from "../views/all.ts";
import type { View } from "../views/view.ts";
import { Facts } from "./facts.tsx";

/** The first row of a view that has one row, or is about its last. */
function FirstRow({ view }: { view: View }): JSX.Element {
  const asked = useAsked(
    () => readPage(ask, view, undefined, { page: 1, order: view.order }),
    [changes.value],
  );
  return (
    <Show asked={asked} lines={1}>
      {([row]) =>
        row === undefined ? <p>{view.empty}</p> : <Facts columns={view.columns} row={row} />
      }
    </Show>
  );
}

/** Whether the whole exchange is paused, since when and why. */
export function PauseState(): JSX.Element {
  return <FirstRow view={views.tradingPause} />;
}

/** What the last run found. */
export function LastVerification(): JSX.Element {
  return (
    <>
      <FirstRow view={views.verifications} />
      <p>
        <a href="/operator/lists/verifications">All verifications</a>
      </p>
    </>
  );
}
