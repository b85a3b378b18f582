import type { JSX } from "preact";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";
import { decided, due, open, unanswered } from "./due.ts";

const unshown = ["isOpen", "answer", "answeredAt"];
const ofMarkets = {
  ...open,
  command: { in: ["resolve_market", "correct_resolution", "void_market", "void_trade"] },
};

/** The desk where markets get their outcome. */
export function ResolutionsPage(): JSX.Element {
  return (
    <StaffPageBody title="Resolutions">
      <Section title="Markets that wait for their outcome">
        <p class="muted">Closed, or past their close time, and not resolved.</p>
        <DataTable view={views.markets} where={due()} prefix="due" />
      </Section>
      <Section title="Markets that their event has decided">
        <p class="muted">
          The others of an exclusive event pay 100 cents, so this one is NO; or it is the last,
          after only NO.
        </p>
        <DataTable view={views.markets} where={decided} prefix="decided" />
      </Section>
      <Section title="Disputes that wait for an answer">
        <DataTable view={views.disputes} where={unanswered} without={unshown} prefix="disputes" />
      </Section>
      <CommandForm command={commands.answerDispute} />
      <Section title="Open proposals about outcomes">
        <p class="muted">
          Those that are decided are among <a href="/operator/proposals">all proposals</a>.
        </p>
        <DataTable
          view={views.proposals}
          where={ofMarkets}
          without={["status", "decidedBy", "decidedAt", "rejection"]}
          prefix="proposals"
        />
      </Section>
      <Section title="Resolved before">
        <DataTable view={views.resolutions} prefix="before" />
      </Section>
    </StaffPageBody>
  );
}
