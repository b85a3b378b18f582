import type { JSX } from "preact";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";
import { memberNow } from "../api/session.ts";

/** What waits for a second person, and the rules that say what does. */
export function ProposalsPage(): JSX.Element {
  const member = memberNow();
  return (
    <StaffPageBody title="Proposals">
      <Section title="All proposals">
        <p class="muted">
          Yours are those of {member?.name}: somebody else must approve them.{" "}
          <a href={`/operator/proposals?status=open&by=${encodeURIComponent(member?.name ?? "")}`}>
            See yours that are open
          </a>
        </p>
        <DataTable view={views.proposals} />
      </Section>
      <Section title="Approval rules">
        <DataTable view={views.approvalRules} prefix="rules" />
      </Section>
      <CommandForm command={commands.setApprovalRule} />
      <CommandForm command={commands.removeApprovalRule} />
    </StaffPageBody>
  );
}
