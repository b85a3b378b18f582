import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { canUsePasskeys } from "../../api/browser_passkeys.ts";
import type { StaffInvitation } from "../../api/types.ts";
import { Field, issueOf, KnownUser } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { Show } from "../../components/states.tsx";
import { Submit } from "../../components/submit.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { fragment, navigate } from "../../router.ts";
import { acceptInvitation, readInvitation } from "../api/session.ts";
import { StaffPageBody } from "../components/page.tsx";
import { StaffProblem } from "../components/problem.tsx";

/** Accepts an invitation, whose token stands behind the # of the address. */
export function WelcomePage(): JSX.Element {
  const [token] = useState(() => fragment.peek());
  const asked = useAsked(() => readInvitation(token), [token]);
  return (
    <div class="narrow panel">
      <StaffPageBody title="Welcome">
        <Show asked={asked}>
          {(invitation) => <AcceptForm token={token} invitation={invitation} />}
        </Show>
      </StaffPageBody>
    </div>
  );
}

interface AcceptFormProps {
  token: string;
  invitation: StaffInvitation;
}

function AcceptForm({ token, invitation }: AcceptFormProps): JSX.Element {
  const [password, setPassword] = useState("");
  const [passkeyName, setPasskeyName] = useState("");
  const command = useCommand();
  const { email, name } = invitation;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void command.give(
          () => acceptInvitation(token, { password, passkeyName }),
          () => {
            navigate("/operator", { replace: true });
          },
        );
      }}
    >
      <p>
        {name}, this is your account of staff: <strong>{email}</strong>. Each sign-in takes your
        password and your passkey.
      </p>
      {!canUsePasskeys() && (
        <Notice kind="warn">
          This browser cannot make passkeys at this address. It must be https with a name, or
          localhost.
        </Notice>
      )}
      <KnownUser email={email} />
      <Field
        {...{ label: "New password", name: "password", type: "password" }}
        autocomplete="new-password"
        value={password}
        error={issueOf(command.problem, "password")}
        onValue={setPassword}
        required
      />
      <Field
        {...{ label: "Name of the passkey", name: "passkeyName" }}
        value={passkeyName}
        error={issueOf(command.problem, "passkeyName")}
        onValue={setPasskeyName}
        hint="Such as the device that has it."
        required
      />
      <StaffProblem problem={command.problem} />
      <Submit isBusy={command.isBusy}>Make the passkey and begin</Submit>
    </form>
  );
}
