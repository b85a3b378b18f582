import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { account, accountProblem, refreshAccount } from "../api/account.ts";
import { ownApi, publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import type { Problem } from "../api/result.ts";
import { isSignedIn } from "../api/session.ts";
import type { MailLink } from "../api/types.ts";
import { Field, issueOf, KnownUser } from "../components/field.tsx";
import { LinkAccount, ShowLink, useMailLink } from "../components/mail_link.tsx";
import { Notice, ProblemNotice } from "../components/notice.tsx";
import { Loading } from "../components/states.tsx";
import { Submit } from "../components/submit.tsx";
import { useCommand } from "../hooks/use_command.ts";
import { useTitle } from "../hooks/use_title.ts";

/** Confirms an e-mail address by the link of a mail, when its button is pressed. */
export function ConfirmPage(): JSX.Element {
  useTitle("Confirm your e-mail address");
  const [token] = useState(() => location.hash.slice(1));
  const [confirmed, setConfirmed] = useState<string>();
  const asked = useMailLink(token);
  return (
    <div class="narrow panel">
      <h1>{"Confirm your e\u2011mail address"}</h1>
      {confirmed !== undefined ? (
        <Notice kind="good">
          {confirmed} is confirmed.{" "}
          {isSignedIn.value ? <a href="/">See all markets</a> : <a href="/sign-in">Sign in</a>}
        </Notice>
      ) : asked.problem?.code === "INVALID_LINK" ? (
        <InvalidLink problem={asked.problem} />
      ) : (
        <ShowLink asked={asked}>
          {(link) => <ConfirmForm token={token} link={link} onConfirmed={setConfirmed} />}
        </ShowLink>
      )}
    </div>
  );
}

/** A link that does nothing any more. Most were used by the user who opens them again. */
function InvalidLink({ problem }: { problem: Problem }): JSX.Element {
  const own = account.value;
  const isAsked = isSignedIn.value && own === undefined && accountProblem.value === undefined;
  if (isAsked) return <Loading lines={1} />;
  if (own?.emailConfirmed === true && own.newEmail === null) {
    return (
      <Notice kind="good">
        {own.email} is confirmed already. <a href="/">See all markets</a>
      </Notice>
    );
  }
  return (
    <>
      <ProblemNotice problem={problem} />
      <p>
        <a href="/account#email">Send me another mail</a>
      </p>
    </>
  );
}

interface FormProps {
  token: string;
  link: MailLink;
  onConfirmed: (email: string) => void;
}

function ConfirmForm({ token, link, onConfirmed }: FormProps): JSX.Element {
  const [handle, setHandle] = useState("");
  const [password, setPassword] = useState("");
  const [isAskedForPassword, askForPassword] = useState(!isSignedIn.value);
  const command = useCommand();
  const confirm = (event: Event): void => {
    event.preventDefault();
    const body = {
      token,
      handle: handle === "" ? null : handle,
      password: isAskedForPassword ? password : null,
    };
    const api = isAskedForPassword ? publicApi : ownApi;
    void command.give(
      async () => {
        const result = await resultOf(api.POST("/api/account/email/confirm", { body }));
        if (!result.ok && result.problem.status === 401) askForPassword(true);
        return result;
      },
      ({ email }) => {
        onConfirmed(email);
        if (isSignedIn.value) void refreshAccount();
      },
    );
  };
  const { problem } = command;
  const isWrong = problem?.status === 401;
  return (
    <form onSubmit={confirm}>
      <p>
        {(link.account?.presentEmail ?? null) === null
          ? "With this button the address belongs to this account:"
          : "With this button the account uses the new address, and its present one no more:"}
      </p>
      <LinkAccount {...link} />
      {isAskedForPassword && (
        <PasswordField
          value={password}
          error={issueOf(problem, "password")}
          onValue={setPassword}
        />
      )}
      {isWrong && password !== "" && (
        <Notice kind="bad">This is not the password of this account.</Notice>
      )}
      {!isWrong && <ProblemNotice problem={problem} />}
      {problem?.code === "ALREADY_EXISTS" && (
        <Field
          label="Another handle"
          name="handle"
          value={handle}
          error={issueOf(problem, "handle")}
          onValue={setHandle}
        />
      )}
      <Submit isBusy={command.isBusy}>Confirm</Submit>
    </form>
  );
}

interface PasswordProps {
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}

/** For a browser without a session of the account. */
function PasswordField({ value, error, onValue }: PasswordProps): JSX.Element {
  return (
    <>
      <p>
        You are not signed in here as this account. If it is yours, give its password. If it is not,
        close this page: nobody gets an account with your address.
      </p>
      <KnownUser email="" />
      <Field
        label="Password"
        name="password"
        type="password"
        autocomplete="current-password"
        value={value}
        error={error}
        onValue={onValue}
      />
    </>
  );
}
