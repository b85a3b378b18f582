import type { JSX } from "preact";
import { keepAccount } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { OwnProfile } from "../../api/types.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { useTyped } from "../../hooks/use_typed.ts";
import { Checkbox, Field, issueOf, problemBeside } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Person } from "../person.tsx";
import { Submit } from "../submit.tsx";
import { Section } from "./section.tsx";

/** What others see of the user. */
export function ProfileSection({ own }: { own: OwnProfile }): JSX.Element {
  const { typed, values, type, forget } = useTyped({
    displayName: own.displayName,
    handle: own.handle,
    avatarUrl: own.avatarUrl ?? "",
    private: own.private,
    leaderboardOptOut: own.leaderboardOptOut,
  });
  const command = useCommand();
  const { problem } = command;
  const change = (some: typeof typed): void => {
    command.reset();
    type(some);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const { avatarUrl, ...others } = typed;
    const body = avatarUrl === undefined ? others : { ...others, avatarUrl: addressOf(avatarUrl) };
    void command.give(
      () => resultOf(ownApi.PATCH("/api/account/profile", { body })),
      (changed) => {
        forget(typed);
        keepAccount(changed);
      },
    );
  };
  return (
    <Section id="profile" title="Profile">
      <Person displayName={own.displayName} handle={own.handle} />
      <form onSubmit={submit} noValidate>
        <div class="field-pair">
          <Field
            label="Name"
            name="displayName"
            autocomplete="name"
            value={values.displayName}
            error={issueOf(problem, "displayName")}
            onValue={(displayName) => {
              change({ displayName });
            }}
          />
          <Field
            label="Handle"
            name="handle"
            value={values.handle}
            error={issueOf(problem, "handle")}
            onValue={(handle) => {
              change({ handle });
            }}
          />
        </div>
        <Field
          label="Address of a picture"
          name="avatarUrl"
          hint="Begins with https://. Programs that read the API may show it. These pages load nothing from other hosts, and show your initials instead."
          value={values.avatarUrl}
          error={issueOf(problem, "avatarUrl")}
          onValue={(avatarUrl) => {
            change({ avatarUrl });
          }}
        />
        <Checkbox
          label="Private profile"
          hint="Your name is not shown beside your trades and on the leaderboard."
          isChecked={values.private}
          onChange={(isPrivate) => {
            change({ private: isPrivate });
          }}
        />
        <Checkbox
          label="Stay off the leaderboard"
          hint="You keep your place, without a name."
          isChecked={values.leaderboardOptOut}
          onChange={(leaderboardOptOut) => {
            change({ leaderboardOptOut });
          }}
        />
        <ProblemNotice problem={problemBeside(problem, ["displayName", "handle", "avatarUrl"])} />
        {command.isDone && <Notice kind="good">Your profile is saved.</Notice>}
        <Submit isBusy={command.isBusy}>Save my profile</Submit>
      </form>
    </Section>
  );
}

/** Nothing removes the picture. */
function addressOf(typed: string): string | null {
  const address = typed.trim();
  return address === "" ? null : address;
}
