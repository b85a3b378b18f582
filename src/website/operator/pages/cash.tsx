import type { JSX } from "preact";
import { commands } from "../commands/all.ts";
import { BankForm } from "../components/bank_form.tsx";
import { BonusForm } from "../components/bonus_form.tsx";
import { CommandForm } from "../components/command_form.tsx";
import { Counted } from "../components/counted.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";

/** The cash desk. */
export function CashPage(): JSX.Element {
  return (
    <StaffPageBody title="Cash">
      <div class="counts">
        <Counted
          label="users owe cash"
          view={views.receivables}
          href="/operator/lists/receivables"
        />
        <Counted label="fee payouts" view={views.feePayouts} href="/operator/lists/payouts" />
      </div>
      <div class="commands">
        <CommandForm command={commands.deposit} />
        <CommandForm command={commands.withdraw} />
        <CommandForm command={commands.reverseDeposit} />
        <BonusForm />
        <CommandForm command={commands.adjustBalance} />
        <CommandForm command={commands.payOutFees} />
        <CommandForm command={commands.statement} />
        <BankForm />
        <CommandForm command={commands.reconcile} />
        <CommandForm command={commands.closeDay} />
      </div>
      <Section title="Movements">
        <DataTable view={views.cashMovements} />
      </Section>
      <Section title="Receivables">
        <DataTable view={views.receivables} prefix="owed" />
      </Section>
      <Section title="Closed days">
        <DataTable view={views.closedDays} prefix="days" />
      </Section>
      <Section title="Comparisons with the bank">
        <DataTable view={views.reconciliations} prefix="bank" />
      </Section>
    </StaffPageBody>
  );
}
