import type { JSX } from "preact";
import { navigate } from "../../router.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";

/** All events. */
export function EventsPage(): JSX.Element {
  return (
    <StaffPageBody title="Events">
      <CommandForm
        command={commands.createEvent}
        onDone={(id) => {
          navigate(`/operator/events/${String(id)}`);
        }}
      />
      <Section title="All events">
        <DataTable view={views.events} />
      </Section>
    </StaffPageBody>
  );
}
