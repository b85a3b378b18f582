import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { refreshAccount } from "../api/account.ts";
import { publicApi } from "../api/client.ts";
import { resultOf } from "../api/result.ts";
import { isSignedIn } from "../api/session.ts";
import { Field, issueOf } from "../components/field.tsx";
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
  const command = useCommand();
  const confirm = (chosen: string | null): void => {
    const body = { token, handle: chosen };
    void command.give(
      () => resultOf(publicApi.POST("/api/account/email/confirm", { body })),
      ({ email }) => {
        setConfirmed(email);
        if (isSignedIn.value) void refreshAccount();
      },
    );
  };
  useEffect(() => {
    confirm(null);
  }, []);
  const isHandleTaken = command.problem?.code === "ALREADY_EXISTS";
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
      <ProblemNotice problem={command.problem} />
      {command.problem?.code === "INVALID_LINK" && (
        <p>
          <a href="/account#email">Send me another mail</a>
        </p>
      )}
      {isHandleTaken && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            confirm(handle);
          }}
        >
          <Field
            label="Another handle"
            name="handle"
            value={handle}
            error={issueOf(command.problem, "handle")}
            onValue={setHandle}
          />
          <Submit isBusy={command.isBusy}>Confirm</Submit>
        </form>
      )}
    </div>
  );
}
