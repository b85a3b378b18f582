import type { JSX } from "preact";
import { navigate } from "../../router.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { Counted } from "../components/counted.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { views } from "../views/all.ts";

const frozen = { frozenAt: { isNull: false } };

/** Finds users. */
export function UsersPage(): JSX.Element {
  return (
    <StaffPageBody title="Users">
      <div class="counts">
        <Counted
          label="accounts are frozen"
          view={views.users}
          where={frozen}
          href="/operator/users?frozen=yes"
        />
        <Counted
          label="addresses are not confirmed"
          view={views.unconfirmed}
          href="/operator/lists/unconfirmed"
        />
      </div>
      <Section title="All users">
        <DataTable view={views.users} />
        <p>
          <a href="/operator/lists/api-keys">Whose API key is it?</a>
        </p>
      </Section>
      <CommandForm
        command={commands.createUser}
        onDone={(id) => {
          navigate(`/operator/users/${String(id)}`);
        }}
      />
      <CommandForm command={commands.inviteUser} />
    </StaffPageBody>
  );
}
