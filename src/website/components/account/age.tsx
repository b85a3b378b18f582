import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { keepAccount } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { announceChange } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { OwnProfile } from "../../api/types.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Checkbox } from "../field.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { Section } from "./section.tsx";

interface AgeSectionProps {
  /** In years. */
  age: number;
  onConfirmed?: (own: OwnProfile) => void;
}

/** Asks who signed up before the exchange had a minimum age. */
export function AgeSection({ age, onConfirmed }: AgeSectionProps): JSX.Element {
  const [isChecked, setIsChecked] = useState(false);
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    void command.give(
      () => resultOf(ownApi.POST("/api/account/age", { body: { confirmedAge: age } })),
      (own) => {
        keepAccount(own);
        announceChange();
        onConfirmed?.(own);
      },
    );
  };
  return (
    <Section id="age" title="Your age">
      <form onSubmit={submit} noValidate>
        <Checkbox label={ageWords(age)} isChecked={isChecked} onChange={setIsChecked} />
        <ProblemNotice problem={command.problem} />
        <Submit isBusy={command.isBusy} disabled={!isChecked}>
          Confirm my age
        </Submit>
      </form>
    </Section>
  );
}

/** What a user confirms. */
export function ageWords(age: number): string {
  return `I am ${age} or older`;
}
