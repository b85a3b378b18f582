import type { JSX } from "preact";
import { Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { changes, noteChange } from "../api/graphql.ts";
import { askForReadiness } from "../api/server.ts";
import { commands } from "../commands/all.ts";
import { Json } from "../components/cell.tsx";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { LastVerification, PauseState } from "../components/state_of_exchange.tsx";
import { views } from "../views/all.ts";
import { overdue, paused, waiting } from "./due.ts";

/** What is out of order, and what stops it from getting worse. */
export function IncidentsPage(): JSX.Element {
  const ready = useAsked(askForReadiness, [changes.value]);
  return (
    <StaffPageBody title="Incidents">
      <Section title="Trading">
        <PauseState />
      </Section>
      <Section title="What is late or piles up">
        <button type="button" class="button button-small" onClick={noteChange}>
          Look again
        </button>
        <DataTable view={views.health} prefix="health" />
      </Section>
      <Section title="Servers and workers">
        <p class="muted">Each is heard every 10 seconds. One that ended is not in the list.</p>
        <DataTable view={views.processes} prefix="processes" />
      </Section>
      <Section title="Jobs of the worker">
        <DataTable view={views.jobs} prefix="jobs" />
      </Section>
      <div class="commands">
        <CommandForm command={commands.setTradingPause} />
        <CommandForm command={commands.setMarketStatus} />
        <CommandForm command={commands.cancelOrders} />
        <CommandForm command={commands.freezeUser} />
        <CommandForm command={commands.runDue} />
        <CommandForm command={commands.refreshLeaderboard} />
        <CommandForm command={commands.setRateLimit} />
        <CommandForm command={commands.setStreamCap} />
      </div>
      <p>
        Whether an event is live is set on the page of the event.{" "}
        <a href="/operator/events?live=yes">Events that are live</a>
      </p>
      <Section title="The server that shows this page">
        <Show asked={ready} lines={1}>
          {(state) => <Json value={state} />}
        </Show>
      </Section>
      <Section title="Last verification of the ledger">
        <LastVerification />
      </Section>
      <Section title="Markets past their close time that are not closed">
        <p class="muted">If there are any for more than a minute, the worker does not work.</p>
        <DataTable view={views.markets} where={overdue()} prefix="late" />
      </Section>
      <Section title="Paused markets">
        <DataTable view={views.markets} where={paused} prefix="paused" />
      </Section>
      <Section title="Mails that wait">
        <DataTable view={views.mails} where={waiting} without={["status"]} prefix="mails" />
      </Section>
      <Section title="Limits of requests">
        <DataTable view={views.rateLimits} prefix="limits" />
      </Section>
      <Section title="Caps of streams">
        <DataTable view={views.streamCaps} prefix="caps" />
      </Section>
    </StaffPageBody>
  );
}
