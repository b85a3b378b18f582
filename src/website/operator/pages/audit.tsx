import type { JSX } from "preact";
import { Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { askForHead, askForProof } from "../api/server.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import type { ListName } from "../paths.ts";
import { listed, views } from "../views/all.ts";

/** What auditors read: who did what, the sealed history, proofs of balances and verifications. */
export function AuditPage(): JSX.Element {
  const head = useAsked(askForHead, []);
  const proof = useAsked(askForProof, []);
  return (
    <StaffPageBody title="Audit">
      <Section title="Who did what">
        <DataTable view={views.auditEntries} />
      </Section>
      <Section title="Head of the sealed history">
        <p class="muted">Compare it with a head that you wrote down before.</p>
        <Show asked={head} lines={2}>
          {(sealed) => <pre class="code">{JSON.stringify(sealed, null, 2)}</pre>}
        </Show>
      </Section>
      <Section title="Last proof of balances">
        <p class="muted">The worker publishes one each day. Everybody sees its root and total.</p>
        <Show asked={proof} lines={2}>
          {(last) => <pre class="code">{JSON.stringify(last, null, 2)}</pre>}
        </Show>
        <CommandForm command={commands.publishProof} onDone={proof.askAgain} />
      </Section>
      <Section title="Verifications of the ledger">
        <DataTable view={views.verifications} prefix="verifications" />
      </Section>
      <Section title="Lists of everything">
        <ul>
          {(Object.keys(listed) as ListName[]).map((name) => (
            <li key={name}>
              <a class="list-link" href={`/operator/lists/${name}`}>
                {listed[name].title}
              </a>
            </li>
          ))}
        </ul>
      </Section>
    </StaffPageBody>
  );
}
