import type { JSX } from "preact";
import { navigate } from "../../router.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";

/** All markets and categories. */
export function MarketsPage(): JSX.Element {
  return (
    <StaffPageBody title="Markets">
      <CommandForm
        command={commands.createMarket}
        onDone={(id) => {
          navigate(`/operator/markets/${String(id)}`);
        }}
      />
      <CommandForm command={commands.createMarkets} />
      <CommandForm command={commands.createCategory} />
      <Section title="All markets">
        <DataTable view={views.markets} />
      </Section>
      <Section title="Categories">
        <DataTable view={views.categories} prefix="categories" />
      </Section>
    </StaffPageBody>
  );
}
