import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { noteSignIn } from "../api/session.ts";
import { Field, issueOf, KnownUser, problemBeside } from "../components/field.tsx";
import { Notice, ProblemNotice } from "../components/notice.tsx";
import { Submit } from "../components/submit.tsx";
import { typedEmail } from "../components/typed_email.ts";
import { useCommand } from "../hooks/use_command.ts";
import { useTitle } from "../hooks/use_title.ts";

/** Asks for a link to set a password; with the link, sets it. */
export function ResetPage(): JSX.Element {
  useTitle("New password");
  const [token] = useState(() => location.hash.slice(1));
  return (
    <div class="narrow panel">
      <h1>New password</h1>
      {token === "" ? <AskForLink /> : <SetPassword token={token} />}
    </div>
  );
}

function AskForLink(): JSX.Element {
  const [email, setEmail] = useState(() => typedEmail.peek());
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { email: email.trim() };
    void command.give(() => resultOf(publicApi.POST("/api/account/password-reset", { body })));
  };
  if (command.isDone) {
    return (
      <Notice kind="good">
        If this address has an account, a mail with a link is on its way. The link is good for one
        hour.
      </Notice>
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      <Field
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        value={email}
        error={issueOf(command.problem, "email")}
        onValue={setEmail}
      />
      <ProblemNotice problem={problemBeside(command.problem, ["email"])} />
      <Submit isBusy={command.isBusy}>Send me a link</Submit>
    </form>
  );
}

function SetPassword({ token }: { token: string }): JSX.Element {
  const [password, setPassword] = useState("");
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { token, password };
    void command.give(
      () => resultOf(publicApi.POST("/api/account/password-reset/confirm", { body })),
      () => {
        noteSignIn();
        // A load of this page must not ask for the password once more: the link is used up.
        history.replaceState(history.state, "", location.pathname);
      },
    );
  };
  if (command.isDone) {
    return (
      <Notice kind="good">
        Your password is changed, and you are signed in. All other browsers are signed out.{" "}
        <a href="/account#passkeys">See your passkeys and API keys</a> or{" "}
        <a href="/">see all markets</a>.
      </Notice>
    );
  }
  return (
    <form onSubmit={submit} noValidate>
      {/* The link does not say whose password it is. */}
      <KnownUser email="" />
      <Field
        label="New password"
        name="password"
        type="password"
        autocomplete="new-password"
        hint="At least 10 characters. All other browsers are signed out. Your passkeys and API keys stay: look through them in your account."
        value={password}
        error={issueOf(command.problem, "password")}
        onValue={setPassword}
      />
      <ProblemNotice problem={problemBeside(command.problem, ["password"])} />
      <Submit isBusy={command.isBusy}>Set the password</Submit>
    </form>
  );
}
