import type { JSX } from "preact";
import { Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { ask, changes } from "../api/graphql.ts";
import { readPage } from "../api/pages.ts";
import { views } from "../views/all.ts";
import { Facts } from "./facts.tsx";

const first = { page: 1 };

/** Whether the whole exchange is paused, since when and why. */
export function PauseState(): JSX.Element {
  const view = views.tradingPause;
  const asked = useAsked(
    () => readPage(ask, view, undefined, { ...first, order: view.order }),
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

/** What the last run found. */
export function LastVerification(): JSX.Element {
  const view = views.verifications;
  const asked = useAsked(
    () => readPage(ask, view, undefined, { ...first, order: view.order }),
    [changes.value],
  );
  return (
    <Show asked={asked} lines={1}>
      {([row]) => (
        <>
          {row === undefined ? <p>{view.empty}</p> : <Facts columns={view.columns} row={row} />}
          <p>
            <a href="/operator/lists/verifications">All verifications</a>
          </p>
        </>
      )}
    </Show>
  );
}
