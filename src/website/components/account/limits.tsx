import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { announceChange } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { LossLimit, OwnProfile } from "../../api/types.ts";
import { formatCents, formatDateTime, parseEuros } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Field } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { Section } from "./section.tsx";

const periods = [
  { name: "day", label: "A day" },
  { name: "week", label: "7 days" },
  { name: "month", label: "30 days" },
] as const;

type Period = (typeof periods)[number]["name"];

/** How much may be lost in a day, a week and a month. */
export function LimitsSection({ own }: { own: OwnProfile }): JSX.Element {
  const { limits } = own;
  const [typed, setTyped] = useState<Record<Period, string>>(() => ({
    day: textOf(limits.day),
    week: textOf(limits.week),
    month: textOf(limits.month),
  }));
  const command = useCommand();
  const cents = { day: centsOf(typed.day), week: centsOf(typed.week), month: centsOf(typed.month) };
  const isWrong = Object.values(cents).includes("wrong");
  const submit = (event: Event): void => {
    event.preventDefault();
    const { day, week, month } = cents;
    if (day === "wrong" || week === "wrong" || month === "wrong") return;
    const body = { dayCents: day, weekCents: week, monthCents: month };
    void command.give(
      () => resultOf(ownApi.PUT("/api/account/limits", { body })),
      (changed) => {
        account.value = { ...own, limits: changed };
        announceChange();
      },
    );
  };
  return (
    <Section id="limits" title="Loss limits">
      <p class="muted">
        No order may put more than this into trading, net of what you got out. Open orders count by
        what they could cost. Leave a field empty for no limit.
      </p>
      <form onSubmit={submit} noValidate>
        <div class="field-triple">
          {periods.map(({ name, label }) => (
            <div key={name}>
              <Field
                label={label}
                name={name}
                unit="€"
                inputMode="decimal"
                value={typed[name]}
                error={cents[name] === "wrong" ? "Give an amount in euros, or nothing." : undefined}
                onValue={(text) => {
                  setTyped((before) => ({ ...before, [name]: text }));
                }}
              />
              <Used limit={limits[name]} />
            </div>
          ))}
        </div>
        <p class="hint">
          Lowering a limit holds at once. Raising or removing one takes 24 hours, in which you can
          change your mind.
        </p>
        <ProblemNotice problem={command.problem} />
        {command.isDone && <Notice kind="good">Your limits are saved.</Notice>}
        <Submit isBusy={command.isBusy} disabled={isWrong}>
          {limits.reviewedAt === null ? "Confirm my limits" : "Save my limits"}
        </Submit>
      </form>
    </Section>
  );
}

function Used({ limit }: { limit: LossLimit }): JSX.Element {
  const { limitCents, usedCents, pending } = limit;
  return (
    <div class="used">
      {limitCents !== null && (
        <meter
          aria-label="Used"
          min={0}
          max={Math.max(limitCents, 1)}
          value={Math.min(usedCents, limitCents)}
        />
      )}
      <p class="hint">
        {formatCents(usedCents)} used
        {limitCents === null ? ", no limit" : ` of ${formatCents(limitCents)}`}
      </p>
      {pending !== null && (
        <p class="hint pending">
          {pending.limitCents === null ? "No limit" : formatCents(pending.limitCents)} from{" "}
          {formatDateTime(pending.at)}
        </p>
      )}
    </div>
  );
}

/** A limit that waits is shown, so that saving does not take it back by accident. */
function textOf({ limitCents, pending }: LossLimit): string {
  const cents = pending === null ? limitCents : pending.limitCents;
  return cents === null ? "" : (cents / 100).toFixed(2);
}

function centsOf(text: string): number | null | "wrong" {
  return text.trim() === "" ? null : (parseEuros(text) ?? "wrong");
}
