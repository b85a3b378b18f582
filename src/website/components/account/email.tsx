import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { refreshAccount } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { OwnProfile } from "../../api/types.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field, issueOf, KnownUser, problemBeside } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { Section } from "./section.tsx";

/** The address that mails go to. */
export function EmailSection({ own }: { own: OwnProfile }): JSX.Element {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { email: email.trim(), password };
    void command.give(
      () => resultOf(ownApi.POST("/api/account/email", { body })),
      () => {
        setPassword("");
        void refreshAccount();
      },
    );
  };
  return (
    <Section id="email" title="E-mail">
      <p>
        {own.email}{" "}
        <span class={`badge badge-${own.emailConfirmed ? "open" : "paused"}`}>
          {own.emailConfirmed ? "Confirmed" : "Not confirmed"}
        </span>
      </p>
      {own.newEmail !== null && (
        <Notice kind="info">
          {own.newEmail} is yours once you follow the link in the mail to it.
        </Notice>
      )}
      {(!own.emailConfirmed || own.newEmail !== null) && <ResendButton />}
      {own.emailConfirmed && own.hasPassword && (
        <form onSubmit={submit} noValidate>
          <KnownUser email={own.email} />
          <div class="field-pair">
            <Field
              label="New address"
              name="newEmail"
              type="email"
              autocomplete="email"
              value={email}
              error={issueOf(command.problem, "email")}
              onValue={setEmail}
            />
            <Field
              label="Your password"
              name="emailPassword"
              type="password"
              autocomplete="current-password"
              value={password}
              onValue={setPassword}
            />
          </div>
          <ProblemNotice problem={problemBeside(command.problem, ["email"])} />
          {command.isDone && <Notice kind="good">A mail with a link is on its way.</Notice>}
          <Submit isBusy={command.isBusy}>Change my address</Submit>
        </form>
      )}
    </Section>
  );
}

function ResendButton(): JSX.Element {
  const command = useCommand();
  return (
    <>
      <button
        type="button"
        class="button button-small"
        aria-disabled={command.isBusy || command.isDone}
        onClick={() => {
          if (command.isDone) return;
          void command.give(() => resultOf(ownApi.POST("/api/account/email/resend")));
        }}
      >
        {command.isDone ? "Sent" : "Send the mail again"}
      </button>
      <ProblemNotice problem={command.problem} />
    </>
  );
}
