import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import { noteRenewal } from "../../api/session.ts";
import type { OwnProfile } from "../../api/types.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field, issueOf, KnownUser, problemBeside } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { Section } from "./section.tsx";

/** Changes the password. */
export function PasswordSection({ own }: { own: OwnProfile }): JSX.Element {
  const [currentPassword, setCurrent] = useState("");
  const [newPassword, setNew] = useState("");
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = { currentPassword, newPassword };
    void command.give(
      () => resultOf(ownApi.PUT("/api/account/password", { body })),
      () => {
        noteRenewal();
        setCurrent("");
        setNew("");
      },
    );
  };
  if (!own.hasPassword) {
    return (
      <Section id="password" title="Password">
        <p class="muted">
          Your account has no password yet. <a href="/reset">Set one by mail</a>.
        </p>
      </Section>
    );
  }
  return (
    <Section id="password" title="Password">
      <form onSubmit={submit} noValidate>
        <KnownUser email={own.email} />
        <div class="field-pair">
          <Field
            label="Present password"
            name="currentPassword"
            type="password"
            autocomplete="current-password"
            value={currentPassword}
            onValue={setCurrent}
          />
          <Field
            label="New password"
            name="newPassword"
            type="password"
            autocomplete="new-password"
            hint="At least 10 characters."
            value={newPassword}
            error={issueOf(command.problem, "newPassword")}
            onValue={setNew}
          />
        </div>
        <ProblemNotice problem={problemBeside(command.problem, ["newPassword"])} />
        {command.isDone && (
          <Notice kind="good">Your password is changed. All other browsers are signed out.</Notice>
        )}
        <Submit isBusy={command.isBusy}>Change my password</Submit>
      </form>
    </Section>
  );
}
