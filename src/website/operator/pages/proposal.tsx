import type { JSX } from "preact";
import { Notice } from "../../components/notice.tsx";
import { Empty, Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { changes } from "../api/graphql.ts";
import { askForRow } from "../api/queries.ts";
import { textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { memberNow } from "../api/session.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Fact, Facts } from "../components/facts.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { Cell } from "../components/cell.tsx";
import { views } from "../views/all.ts";

/** What a proposal needs beyond what the list of proposals shows. */
export const moreOfProposal = "preview basis result proposedById decidedById";

/** A proposal: what it would do, and the decision. */
export function ProposalPage({ id }: { id: string }): JSX.Element {
  const asked = useAsked(
    () => askForRow(views.proposals, { proposalId: { equalTo: id } }, moreOfProposal),
    [id, changes.value],
  );
  return (
    <Show asked={asked} title="Proposal">
      {(proposal) =>
        proposal === undefined ? (
          <Empty title="There is no such proposal." />
        ) : (
          <Proposal id={id} proposal={proposal} />
        )
      }
    </Show>
  );
}

/** Arguments that lead to a page of their own. */
const kinds = {
  user_id: "user",
  market_id: "market",
  event_id: "event",
  trade_id: "trade",
  staff_id: "member",
} as const;

function kindOf(name: string): (typeof kinds)[keyof typeof kinds] | "cents" | "json" {
  if (name.endsWith("_cents")) return "cents";
  return name in kinds ? kinds[name as keyof typeof kinds] : "json";
}

function Proposal({ id, proposal }: { id: string; proposal: Row }): JSX.Element {
  const given = { proposalId: id };
  const member = memberNow();
  const isOwn = proposal.proposedById === member?.staffId;
  const isOpen = proposal.status === "open";
  const approver = textIn(proposal, "approverRole");
  const mayDecide = member?.roles.some((role) => role === approver) === true;
  const proposed = (proposal.arguments ?? {}) as Row;
  return (
    <StaffPageBody title={`Proposal: ${textIn(proposal, "command")}`}>
      {isOpen && isOwn && (
        <Notice kind="info">
          You proposed this. Another member of staff must approve it; who rejects it takes it back:
          you may, too.
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
        <dl class="facts facts-wide">
          {Object.keys(proposed).map((name) => (
            <Fact key={name} label={name}>
              <Cell column={{ field: name, label: name, kind: kindOf(name) }} row={proposed} />
            </Fact>
          ))}
        </dl>
      </Section>
      <Section title="What it would return">
        <p class="muted">It was tried when it was proposed, and undone.</p>
        <Cell column={{ field: "preview", label: "Preview", kind: "json" }} row={proposal} />
      </Section>
      <Section title="What it rests on">
        {isOpen && <p class="muted">If this changes, nobody can approve it.</p>}
        <Cell column={{ field: "basis", label: "Basis", kind: "json" }} row={proposal} />
      </Section>
      {proposal.status === "approved" && (
        <Section title="What it returned">
          <Cell column={{ field: "result", label: "Result", kind: "json" }} row={proposal} />
        </Section>
      )}
      {isOpen && !isOwn && mayDecide && (
        <CommandForm command={commands.approve} given={given} isOpen />
      )}
      {(isOwn || mayDecide) && (isOpen || proposal.status === "expired") && (
        <CommandForm command={commands.reject} given={given} />
      )}
      <Section title="Audit of this proposal">
        <DataTable
          view={views.auditEntries}
          where={{ proposalId: { equalTo: id } }}
          without={["proposalId"]}
        />
      </Section>
    </StaffPageBody>
  );
}
