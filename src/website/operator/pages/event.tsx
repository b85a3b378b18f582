import type { JSX } from "preact";
import { useAsked } from "../../hooks/use_asked.ts";
import { changes } from "../api/graphql.ts";
import { askForRow } from "../api/queries.ts";
import { textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { fieldTimeOf } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Facts } from "../components/facts.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { ShowFound } from "../components/show_found.tsx";
import { views } from "../views/all.ts";

/** An event and its markets. */
export function EventPage({ id }: { id: string }): JSX.Element {
  const asked = useAsked(
    () => askForRow(views.events, { eventId: { equalTo: id } }, "description"),
    [id, changes.value],
  );
  return (
    <ShowFound asked={asked} kind="Event">
      {(event) => <Event id={id} event={event} />}
    </ShowFound>
  );
}

function Event({ id, event }: { id: string; event: Row }): JSX.Element {
  const given = { eventId: id };
  const title = textIn(event, "title");
  const description = textIn(event, "description");
  const startsAt = fieldTimeOf(textIn(event, "startsAt"));
  const endsAt = fieldTimeOf(textIn(event, "endsAt"));
  const category = textIn(event, "category");
  return (
    <StaffPageBody title={title}>
      <Section title="Event">
        <Facts columns={views.events.columns} row={event} />
        {description !== "" && <p class="prose">{description}</p>}
        <p class="code">{id}</p>
      </Section>
      <div class="commands">
        <CommandForm
          command={commands.setEventLive}
          given={given}
          initial={{
            live: event.isLive === true ? "yes" : "",
            liveDelayMs: String(event.liveDelayMs),
          }}
        />
        <CommandForm
          command={commands.editEvent}
          given={given}
          initial={{ title, description, startsAt, endsAt }}
        />
        <CommandForm command={commands.createMarket} given={{ ...given, category }} />
      </div>
      <Section title="Markets of the event">
        <DataTable
          view={views.markets}
          where={{ eventId: { equalTo: id } }}
          without={["eventId"]}
        />
      </Section>
    </StaffPageBody>
  );
}
