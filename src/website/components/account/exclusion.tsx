import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { refreshAccount } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { announceChange } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { OwnProfile } from "../../api/types.ts";
import { formatDateTime } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Choice } from "../choice.tsx";
import { Field } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { endOf } from "./end_of.ts";
import { Section } from "./section.tsx";

const CONFIRMATION = "exclude me";
const LASTING = "You cannot shorten it. Support can end it only if it was set by mistake.";

const periods = [
  { value: "1", label: "1 day" },
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "180", label: "180 days" },
  { value: "for-good", label: "For good" },
] as const;

type Period = (typeof periods)[number]["value"];

/** A break from trading that the user cannot shorten. */
export function ExclusionSection({ own }: { own: OwnProfile }): JSX.Element {
  const [period, setPeriod] = useState<Period>("7");
  const [typed, setTyped] = useState("");
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    void command.give(
      () =>
        resultOf(ownApi.POST("/api/account/self-exclusion", { body: { until: endOf(period) } })),
      () => {
        setTyped("");
        announceChange();
        void refreshAccount();
      },
    );
  };
  return (
    <Section id="exclusion" title="Self-exclusion">
      {own.exclusion !== null && (
        <Notice kind="warn">
          {own.exclusion.until === null
            ? "You excluded yourself from trading for good."
            : `You excluded yourself from trading until ${formatDateTime(own.exclusion.until)}.`}{" "}
          {LASTING} You can still see and cancel what you have.
        </Notice>
      )}
      {own.exclusion === null && (
        <form onSubmit={submit} noValidate>
          <p class="muted">
            You cannot trade while it lasts. {LASTING} All your open orders are cancelled at once.
            You keep your shares, and they are paid out as their markets resolve.
          </p>
          <Choice label="For how long" value={period} options={periods} onChange={setPeriod} />
          <Field
            label={`Type “${CONFIRMATION}” to confirm`}
            name="confirmation"
            value={typed}
            onValue={setTyped}
          />
          <ProblemNotice problem={command.problem} />
          <Submit
            tone="danger"
            isBusy={command.isBusy}
            disabled={typed.trim().toLowerCase() !== CONFIRMATION}
          >
            Exclude me{" "}
            {period === "for-good"
              ? "for good"
              : `for ${period} ${period === "1" ? "day" : "days"}`}
          </Submit>
        </form>
      )}
    </Section>
  );
}
