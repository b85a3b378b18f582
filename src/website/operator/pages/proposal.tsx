import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Notice } from "../../components/notice.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { changes } from "../api/graphql.ts";
import { askForRow } from "../api/queries.ts";
import { textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { memberNow } from "../api/session.ts";
import { camelCase } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import type { Arguments, Command } from "../commands/command.ts";
import { confirmWords } from "../commands/confirm.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Facts } from "../components/facts.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { Secret } from "../components/secret.tsx";
import { Readable, Value } from "../components/readable.tsx";
import { ShowFound } from "../components/show_found.tsx";
import { views } from "../views/all.ts";

/** What a proposal needs beyond what the list of proposals shows. */
const moreOfProposal = "preview basis result proposedById decidedById";

/** A proposal: what it would do, and the decision. */
export function ProposalPage({ id }: { id: string }): JSX.Element {
  const asked = useAsked(
    () => askForRow(views.proposals, { proposalId: { equalTo: id } }, moreOfProposal),
    [id, changes.value],
  );
  /** What the command returned to this approval. */
  const [returned, setReturned] = useState<unknown>();
  return (
    <ShowFound asked={asked} kind="Proposal">
      {(proposal) => (
        <Proposal id={id} proposal={proposal} returned={returned} onApproved={setReturned} />
      )}
    </ShowFound>
  );
}

/** A command by its name in the database. */
function declaredAs(name: string): Command | undefined {
  return Object.values(commands).find((one) => one.name === name);
}

/** The question that the command itself asks. The values below it have the names. */
function approvalWords(command: string, proposed: Row): string {
  const declared = declaredAs(command);
  const given = Object.entries(proposed).map(([name, value]) => [camelCase(name), value]);
  const words = declared && confirmWords(declared, Object.fromEntries(given) as Arguments);
  return `${words ?? ""} ${command} is carried out at once:`.trim();
}

/** What the command returns, in words: an amount is one of what the form says it is. */
function Returned({ command, value }: { command: string; value: unknown }): JSX.Element {
  const declared = declaredAs(command);
  if (declared?.returns === "secret") {
    return typeof value === "string" ? (
      <Secret words={declared.result ?? "Done"} text={value} />
    ) : (
      <p class="muted">Only who approves it sees this, once.</p>
    );
  }
  const isCents = declared?.returns === "cents" && typeof value !== "object";
  return (
    <div>
      {declared?.result !== undefined && value !== null && `${declared.result}: `}
      <Value name={isCents ? "result_cents" : "result"} value={value} />
    </div>
  );
}

interface ProposalProps {
  id: string;
  proposal: Row;
  returned: unknown;
  onApproved: (returned: unknown) => void;
}

function Proposal({ id, proposal, returned, onApproved }: ProposalProps): JSX.Element {
  const given = { proposalId: id };
  const member = memberNow();
  const isOwn = proposal.proposedById === member?.staffId;
  const isOpen = proposal.status === "open";
  const approver = textIn(proposal, "approverRole");
  const mayDecide = member?.roles.some((role) => role === approver) === true;
  const command = textIn(proposal, "command");
  const proposed = (proposal.arguments ?? {}) as Row;
  return (
    <StaffPageBody title={`Proposal: ${command}`}>
      {isOpen && isOwn && (
        <Notice kind="info">
          You proposed this. Another member of staff must approve it. To take it back, reject it.
        </Notice>
      )}
      {isOpen && !isOwn && !mayDecide && (
        <Notice kind="info">Who decides this needs the role {approver}.</Notice>
      )}
      <Section title="Proposal">
        <Facts
          columns={views.proposals.columns.filter(({ kind }) => kind !== "json")}
          row={proposal}
        />
      </Section>
      <Section title="Arguments">
        <Readable value={proposed} />
      </Section>
      <Section title="What it would return">
        <p class="muted">It was tried when it was proposed, and undone.</p>
        <Returned command={command} value={proposal.preview} />
      </Section>
      <Section title="What it rests on">
        {isOpen && <p class="muted">If this changes, nobody can approve it.</p>}
        <Value name="basis" value={proposal.basis} />
      </Section>
      {proposal.status === "approved" && (
        <Section title="What it returned">
          <Returned command={command} value={returned ?? proposal.result} />
        </Section>
      )}
      {proposal.status === "approved" && (
        <Section title="What it carried out, in the audit">
          <DataTable
            view={views.auditEntries}
            where={{ proposalId: { equalTo: id } }}
            without={["proposalId"]}
          />
        </Section>
      )}
      {isOpen && !isOwn && mayDecide && (
        <CommandForm
          command={{ ...commands.approve, confirm: approvalWords(command, proposed) }}
          given={given}
          shown={proposed}
          onDone={onApproved}
          isOpen
        />
      )}
      {(isOwn || mayDecide) && (isOpen || proposal.status === "expired") && (
        <CommandForm command={commands.reject} given={given} />
      )}
    </StaffPageBody>
  );
}
