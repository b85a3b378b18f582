import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { keepAccount } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { announceChange } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { OwnProfile } from "../../api/types.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Choice } from "../choice.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { Section } from "./section.tsx";

const times = [
  { value: "never", label: "Never", minutes: null },
  { value: "15", label: "15 minutes", minutes: 15 },
  { value: "30", label: "30 minutes", minutes: 30 },
  { value: "60", label: "1 hour", minutes: 60 },
  { value: "120", label: "2 hours", minutes: 120 },
] as const;

type Time = (typeof times)[number]["value"];

/** How often a user is reminded of the time on the website. */
export function RealityCheckSection({ own }: { own: OwnProfile }): JSX.Element {
  const present = times.find(({ minutes }) => minutes === own.realityCheckMinutes) ?? times[0];
  const [chosen, setChosen] = useState<Time>();
  const command = useCommand();
  const value = chosen ?? present.value;
  const submit = (event: Event): void => {
    event.preventDefault();
    const everyMinutes = times.find((time) => time.value === value)?.minutes ?? null;
    void command.give(
      () => resultOf(ownApi.PUT("/api/account/reality-check", { body: { everyMinutes } })),
      (check) => {
        keepAccount({ ...own, realityCheckMinutes: check.everyMinutes });
        setChosen(undefined);
        announceChange();
      },
    );
  };
  return (
    <Section id="reality-check" title="Reality check">
      <form onSubmit={submit} noValidate>
        <p class="muted">
          We can remind you how long you have been here, and what it brought you. The time counts
          while pages of this exchange are open, and begins anew after a break of half an hour.
        </p>
        <Choice label="Remind me every" value={value} options={times} onChange={setChosen} />
        <ProblemNotice problem={command.problem} />
        {command.isDone && chosen === undefined && (
          <Notice kind="good">
            {own.realityCheckMinutes === null
              ? "You are not reminded."
              : `You are reminded every ${present.label.replace(/^1 /, "")}.`}
          </Notice>
        )}
        <Submit isBusy={command.isBusy}>Save the reminder</Submit>
      </form>
    </Section>
  );
}
