import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { canUsePasskeys } from "../../api/browser_passkeys.ts";
import { Field } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { Submit } from "../../components/submit.tsx";
import { useCommand } from "../../hooks/use_command.ts";
import { signIn } from "../api/session.ts";
import { wordsOf } from "../api/words.ts";
import { StaffPageBody } from "../components/page.tsx";

/** Signs in with e-mail address, password and passkey, in the place of the page that was asked for. */
export function SignInPage({ hasEnded }: { hasEnded: boolean }): JSX.Element {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const command = useCommand();
  const { problem } = command;
  const words =
    problem?.status === 401
      ? "E-mail address, password and passkey do not belong to one member of staff."
      : problem && wordsOf(problem);
  return (
    <div class="narrow panel">
      <StaffPageBody title="Sign in">
        {hasEnded && <Notice kind="info">Your session has ended. Nothing was done since.</Notice>}
        {!canUsePasskeys() && (
          <Notice kind="warn">This browser cannot use passkeys at this address.</Notice>
        )}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void command.give(() => signIn(email.trim(), password));
          }}
        >
          <Field
            {...{ label: "E-mail", name: "email", type: "email", autocomplete: "username" }}
            value={email}
            onValue={setEmail}
            required
          />
          <Field
            {...{ label: "Password", name: "password", type: "password" }}
            autocomplete="current-password"
            value={password}
            onValue={setPassword}
            hint="Your browser then asks for your passkey."
            required
          />
          {words !== undefined && <Notice kind="bad">{words}</Notice>}
          <Submit isBusy={command.isBusy}>Sign in</Submit>
        </form>
      </StaffPageBody>
    </div>
  );
}
