import type { JSX } from "preact";
import type { Condition, View } from "../views/view.ts";
import { DataTable } from "./data_table.tsx";
import { Section } from "./page.tsx";
import { Tabs, tabShown } from "./tabs.tsx";

/** A list that is a part of the page of a market or a user. */
export interface Part {
  name: string;
  label: string;
  view: View;
  where: Condition;
  /** Fields that all rows share. */
  without?: readonly string[];
}

interface PartsProps {
  label: string;
  parts: readonly Part[];
}

/** The lists of a page, of which one is shown. */
export function Parts({ label, parts }: PartsProps): JSX.Element {
  const tabs = parts.map(({ name, label }) => [name, label] as const);
  const name = tabShown(tabs);
  const part = parts.find((one) => one.name === name);
  return (
    <div class="page">
      <Tabs label={label} tabs={tabs} />
      {part !== undefined && (
        <Section key={part.name} title={part.label}>
          <DataTable view={part.view} where={part.where} without={part.without ?? []} />
        </Section>
      )}
    </div>
  );
}
