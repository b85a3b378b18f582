import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { canUsePasskeys } from "../api/browser_passkeys.ts";
import { publicApi } from "../api/client.ts";
import { signByPasskey } from "../api/passkeys.ts";
import { resultOf } from "../api/result.ts";
import { noteSignIn } from "../api/session.ts";
import type { MailLink, WaysIn } from "../api/types.ts";
import { Checkbox, Field, issueOf, KnownUser, problemBeside } from "../components/field.tsx";
import { LinkAccount, ShowLink, useMailLink, waysInWords } from "../components/mail_link.tsx";
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
        hour. If you never confirmed the address, the mail lets you do that first. If many mails
        were asked for, it may take an hour.
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
  const asked = useMailLink(token);
  const [waysIn, setWaysIn] = useState<WaysIn>();
  if (waysIn === undefined) {
    return (
      <ShowLink asked={asked}>
        {(link) => <PasswordForm token={token} link={link} onSet={setWaysIn} />}
      </ShowLink>
    );
  }
  const remaining = waysInWords({ ...waysIn, sessions: waysIn.sessions - 1 });
  return (
    <Notice kind="good">
      Your password is changed, and you are signed in.{" "}
      {remaining === undefined
        ? "Nothing else opens your account."
        : `Your account is also opened by: ${remaining}.`}{" "}
      <a href="/account#passkeys">See your passkeys and API keys</a> or{" "}
      <a href="/">see all markets</a>.
    </Notice>
  );
}

interface FormProps {
  token: string;
  link: MailLink;
  onSet: (waysIn: WaysIn) => void;
}

function PasswordForm({ token, link, onSet }: FormProps): JSX.Element {
  const [password, setPassword] = useState("");
  const [isKeeping, keep] = useState(false);
  const command = useCommand();
  const { account, waysIn } = link;
  const submit = (event: Event): void => {
    event.preventDefault();
    void command.give(
      async () => {
        const proof = isKeeping ? await signByPasskey() : undefined;
        if (proof?.ok === false) return proof;
        const body = { token, password, credential: proof?.data ?? null };
        return await resultOf(publicApi.POST("/api/account/password-reset/confirm", { body }));
      },
      (answer) => {
        noteSignIn();
        onSet(answer.waysIn);
        // A load of this page must not ask for the password once more: the link is used up.
        history.replaceState(history.state, "", location.pathname);
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <LinkAccount account={account} email={null} />
      <p>
        Besides the password, this account is opened by:{" "}
        {(waysIn && waysInWords(waysIn)) ?? "nothing"}. All of it ends with the new password.
      </p>
      {waysIn !== null && waysIn.passkeys > 0 && canUsePasskeys() && (
        <Checkbox
          label="Keep all of it"
          hint="You are asked for one of your passkeys."
          isChecked={isKeeping}
          onChange={keep}
        />
      )}
      {/* The address of the account is not shown. */}
      <KnownUser email="" />
      <Field
        label="New password"
        name="password"
        type="password"
        autocomplete="new-password"
        hint="At least 10 characters."
        value={password}
        error={issueOf(command.problem, "password")}
        onValue={setPassword}
      />
      <ProblemNotice problem={problemBeside(command.problem, ["password"])} />
      <Submit isBusy={command.isBusy}>Set the password</Submit>
    </form>
  );
}
