import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { refreshAccount } from "../api/account.ts";
import { ownApi, publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import type { Result } from "../api/result.ts";
import { isSignedIn } from "../api/session.ts";
import { Field, issueOf, KnownUser } from "../components/field.tsx";
import { Notice, ProblemNotice } from "../components/notice.tsx";
import { Loading } from "../components/states.tsx";
import { Submit } from "../components/submit.tsx";
import { useCommand } from "../hooks/use_command.ts";
import { useTitle } from "../hooks/use_title.ts";

/** Confirms an e-mail address by the link of a mail. */
export function ConfirmPage(): JSX.Element {
  useTitle("Confirm your e-mail address");
  const [token] = useState(() => location.hash.slice(1));
  const [handle, setHandle] = useState("");
  const [confirmed, setConfirmed] = useState<string>();
  const [password, setPassword] = useState("");
  const [isAskedForPassword, askForPassword] = useState(false);
  const command = useCommand();
  const confirm = (): void => {
    const body = {
      token,
      handle: handle === "" ? null : handle,
      password: password === "" ? null : password,
    };
    void command.give(
      async () => {
        const send = (api: typeof ownApi) =>
          resultOf(api.POST("/api/account/email/confirm", { body }));
        let result = await send(isSignedIn.value && password === "" ? ownApi : publicApi);
        // The session had ended: the link may need none.
        if (is401(result) && password === "" && !isSignedIn.value) result = await send(publicApi);
        if (is401(result)) askForPassword(true);
        return result;
      },
      ({ email }) => {
        setConfirmed(email);
        if (isSignedIn.value) void refreshAccount();
      },
    );
  };
  useEffect(() => {
    confirm();
  }, []);
  const { problem } = command;
  const isHandleTaken = problem?.code === "ALREADY_EXISTS";
  const isFirstAsking = problem?.status === 401 && password === "";
  return (
    <div class="narrow panel">
      <h1>Confirm your e-mail address</h1>
      {command.isBusy && <Loading lines={1} />}
      {confirmed !== undefined && (
        <Notice kind="good">
          {confirmed} is confirmed.{" "}
          {isSignedIn.value ? <a href="/">See all markets</a> : <a href="/sign-in">Sign in</a>}
        </Notice>
      )}
      {problem?.status === 401 && !isFirstAsking && (
        <Notice kind="bad">This is not the password of the account that the mail names.</Notice>
      )}
      {problem?.status !== 401 && <ProblemNotice problem={problem} />}
      {problem?.code === "INVALID_LINK" && (
        <p>
          <a href="/account#email">Send me another mail</a>
        </p>
      )}
      {confirmed === undefined && (isAskedForPassword || isHandleTaken) && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            confirm();
          }}
        >
          {isAskedForPassword && (
            <PasswordField
              value={password}
              error={issueOf(problem, "password")}
              onValue={setPassword}
            />
          )}
          {isHandleTaken && (
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
      )}
    </div>
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
        You are not signed in here as the account that the mail names. If you made it, give the
        password that you chose. If you did not, close this page: nobody gets an account with your
        address.
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

const is401 = (result: Result<unknown>): boolean => !result.ok && result.problem.status === 401;
