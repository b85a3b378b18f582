import { timeNow } from "../../api/server_time.ts";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";

const DAY_MS = 86_400_000;

/** Users whom somebody should look at. */
export function SafetyPage(): JSX.Element {
  const waits = useMemo(
    () => ({ createdAt: { lessThan: new Date(timeNow() - DAY_MS).toISOString() } }),
    [],
  );
  return (
    <StaffPageBody title="Safety">
      <Section title="Loss limits nearly used">
        <p class="muted">
          80 % or more of a limit is used, with what open orders may cost. Rejected orders are not
          kept.
        </p>
        <DataTable view={views.limitUsage} prefix="limits" />
      </Section>
      <Section title="Unusual spending">
        <p class="muted">
          A day of the last 7 with €100.00 or more, and three times the average of the days with
          spending in the 30 days before.
        </p>
        <DataTable view={views.unusualLosses} prefix="losses" />
      </Section>
      <Section title="New accounts like excluded users">
        <p class="muted">
          Accounts of the last 30 days. The same name: the letters and digits of the display name.
          The same mailbox: the e-mail address without dots and without what follows a plus sign.
        </p>
        <DataTable view={views.lookalikes} prefix="alike" />
      </Section>
      <Section title="Addresses that are not confirmed for a day">
        <DataTable view={views.unconfirmed} where={waits} prefix="unconfirmed" />
      </Section>
    </StaffPageBody>
  );
}
