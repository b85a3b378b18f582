import type { JSX } from "preact";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { Show } from "../components/states.tsx";
import { formatCents, formatDateTime } from "../format.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useTitle } from "../hooks/use_title.ts";

/** What everybody sees of the last proof of balances. */
export function ProofPage(): JSX.Element {
  useTitle("Proof of balances");
  const last = useAsked(() => resultOf(publicApi.GET("/api/v1/proofs/balances")), []);
  return (
    <div class="narrow wide-text prose">
      <h1>Proof of balances</h1>
      <Show asked={last}>
        {({ publishedAt, root, totalCents }) =>
          publishedAt === null || root === null || totalCents === null ? (
            <p class="muted">No proof was published yet.</p>
          ) : (
            <>
              <p>
                At {formatDateTime(publishedAt)} all users together had{" "}
                <strong>{formatCents(totalCents)}</strong> in cash. The root of the proof is
              </p>
              <code class="key">{root}</code>
            </>
          )
        }
      </Show>
      <h2>What it shows</h2>
      <p>
        The root is a hash over the cash of every user. Nobody can leave out or change the cash of a
        user later without another root. <a href="/account#proof">Your account</a> computes whether
        yours is in it, from figures that only you get.
      </p>
      <ul>
        <li>It holds only if all see the same root: keep it, and compare it with others.</li>
        <li>Each user can check only their own cash. The more users do, the more it shows.</li>
        <li>
          It shows what the exchange owes, and not whether it has the money. Shares are not in it.
        </li>
      </ul>
      <p class="muted small">
        Programs get the same from the <a href="/docs">API</a>.
      </p>
    </div>
  );
}
