import type { JSX } from "preact";
import { Counted } from "../components/counted.tsx";
import { LastVerification, PauseState } from "../components/state_of_exchange.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";
import { due, open, paused, unanswered, waiting } from "./due.ts";

/** What waits for somebody. */
export function OverviewPage(): JSX.Element {
  return (
    <StaffPageBody title="Overview">
      <div class="counts">
        <Counted
          label="markets wait for their outcome"
          view={views.markets}
          where={due()}
          href="/operator/resolutions"
        />
        <Counted
          label="disputes wait for an answer"
          view={views.disputes}
          where={unanswered}
          href="/operator/resolutions"
        />
        <Counted
          label="proposals that wait"
          view={views.proposals}
          where={open}
          href="/operator/proposals?status=open"
        />
        <Counted
          label="markets are paused"
          view={views.markets}
          where={paused}
          href="/operator/markets?status=paused"
        />
        <Counted
          label="users owe cash"
          view={views.receivables}
          href="/operator/lists/receivables"
        />
        <Counted
          label="mails wait"
          view={views.mails}
          where={waiting}
          href="/operator/lists/mails?status=waiting"
        />
      </div>
      <Section title="Trading">
        <PauseState />
      </Section>
      <Section title="Last verification of the ledger">
        <LastVerification />
      </Section>
    </StaffPageBody>
  );
}
