import type { JSX } from "preact";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import type { ListName } from "../paths.ts";
import { listed } from "../views/all.ts";

/** A list of its own: where links from counts and from other lists lead. */
export function ListPage({ name }: { name: ListName }): JSX.Element {
  const view = listed[name];
  return (
    <StaffPageBody title={view.title}>
      <Section title="Rows">
        <DataTable view={view} />
      </Section>
    </StaffPageBody>
  );
}
