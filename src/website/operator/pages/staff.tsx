import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { canUsePasskeys } from "../../api/browser_passkeys.ts";
import { Field } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { Submit } from "../../components/submit.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { query } from "../../router.ts";
import { changes } from "../api/graphql.ts";
import { askForRow } from "../api/queries.ts";
import { addStaffPasskey } from "../api/session.ts";
import { isUuid } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { DataTable } from "../components/data_table.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { StaffProblem } from "../components/problem.tsx";
import { views } from "../views/all.ts";

/** The people who run the exchange, and their keys. */
export function StaffPage(): JSX.Element {
  const named = query.value.get("member") ?? "";
  return (
    <StaffPageBody title="Staff">
      {isUuid(named) && <Member key={named} id={named} />}
      <Section title="Members of staff">
        <p class="muted">Press a name for what can be done with a member.</p>
        <DataTable view={views.staff} prefix="staff" />
      </Section>
      <CommandForm command={commands.createStaff} />
      <Section title="Keys for programs">
        <DataTable view={views.staffKeys} prefix="keys" />
      </Section>
      <CommandForm command={commands.createStaffKey} />
      <CommandForm command={commands.revokeStaffKey} />
      <Section title="Your passkeys">
        <NewPasskey />
      </Section>
    </StaffPageBody>
  );
}

function Member({ id }: { id: string }): JSX.Element {
  const given = { staffId: id };
  const isMember = { staffId: { equalTo: id } };
  const asked = useAsked(() => askForRow(views.staff, isMember), [id, changes.value]);
  const roles = Array.isArray(asked.data?.roles) ? asked.data.roles.join(", ") : "";
  return (
    <>
      <Section title="The member you chose">
        <DataTable view={views.staff} where={isMember} prefix="member" />
      </Section>
      <Section title="Passkeys of this member">
        <DataTable view={views.staffPasskeys} where={isMember} prefix="passkeys" />
      </Section>
      <CommandForm command={commands.removeStaffPasskey} />
      <CommandForm command={commands.setStaffRoles} given={given} initial={{ roles }} />
      <CommandForm command={commands.inviteStaff} given={given} />
      <CommandForm command={commands.removeStaff} given={given} />
      <Section title="What this member did">
        <DataTable view={views.auditEntries} where={isMember} prefix="audit" />
      </Section>
    </>
  );
}

function NewPasskey(): JSX.Element {
  const [name, setName] = useState("");
  const command = useCommand();
  return (
    <form
      class="line-form"
      onSubmit={(event) => {
        event.preventDefault();
        void command.give(
          () => addStaffPasskey(name),
          () => {
            setName("");
          },
        );
      }}
    >
      <Field
        label="Name of the new passkey"
        name="passkey"
        value={name}
        onValue={setName}
        required
      />
      <Submit isBusy={command.isBusy} disabled={!canUsePasskeys()}>
        Add a passkey
      </Submit>
      <StaffProblem problem={command.problem} />
      {command.isDone && <Notice kind="good">The passkey is added.</Notice>}
    </form>
  );
}
