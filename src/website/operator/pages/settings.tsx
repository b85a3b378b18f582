import type { JSX } from "preact";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";

/** Fees, caps of cash, who may sign up, from which age, and how long outcomes may be disputed. */
export function SettingsPage(): JSX.Element {
  return (
    <StaffPageBody title="Settings">
      <Section title="Fee schedules">
        <DataTable view={views.feeSchedules} prefix="fees" />
      </Section>
      <CommandForm command={commands.setFeeSchedule} />
      <CommandForm command={commands.cancelFeeSchedule} />
      <Section title="Caps of cash">
        <DataTable view={views.cashCaps} prefix="caps" />
      </Section>
      <CommandForm command={commands.setCashCap} />
      <Section title="Sign-up">
        <DataTable view={views.signUp} prefix="sign-up" />
      </Section>
      <CommandForm command={commands.setSignUp} />
      <Section title="Minimum age">
        <DataTable view={views.minimumAge} prefix="minimum-age" />
      </Section>
      <CommandForm command={commands.setMinimumAge} />
      <Section title="Disputes">
        <DataTable view={views.disputeWindow} prefix="disputes" />
      </Section>
      <CommandForm command={commands.setDisputeWindow} />
    </StaffPageBody>
  );
}
