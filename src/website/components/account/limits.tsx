import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { keepAccount, readAccount } from "../../api/account.ts";
import { ownApi } from "../../api/client.ts";
import { announceChange } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { Problem } from "../../api/result.ts";
import type { LossLimit, OwnProfile } from "../../api/types.ts";
import { formatCents, formatDateTime, parseEuros } from "../../format.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { useTyped } from "../../hooks/use_typed.ts";
import { Field } from "../field.tsx";
import { Notice, ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { higherThanLonger, periods } from "./limit_words.ts";
import type { Period } from "./limit_words.ts";
import { LimitSuggestions } from "./limit_suggestions.tsx";
import { Section } from "./section.tsx";

type Limits = OwnProfile["limits"];

const changedMeanwhile: Problem = {
  status: 409,
  error: "Your limits were changed meanwhile. Look at what holds now, and save again.",
};

const wrongAmount = "Give an amount in euros, such as 25 or 1,000.50, or nothing.";

interface LimitsSectionProps {
  own: OwnProfile;
  /** For those who choose limits for the first time; what to do when they are saved. */
  first?: { onSaved: (own: OwnProfile) => void };
}

/** How much may be lost in a day, a week and a month. */
export function LimitsSection({ own, first }: LimitsSectionProps): JSX.Element {
  const { limits } = own;
  const { typed, values, type, forget } = useTyped<Record<Period, string>>({
    day: textOf(limits.day),
    week: textOf(limits.week),
    month: textOf(limits.month),
  });
  const isTouched = Object.keys(typed).length > 0;
  // What the form showed when the user began to type.
  const [typedBeside, setTypedBeside] = useState(limits);
  const command = useCommand();
  const cents = {
    day: centsOf(values.day),
    week: centsOf(values.week),
    month: centsOf(values.month),
  };
  const isWrong = Object.values(cents).includes("wrong");
  const warning = isTouched ? higherThanLonger(cents) : undefined;
  const change = (texts: Partial<Record<Period, string>>): void => {
    if (!isTouched) setTypedBeside(limits);
    type(texts);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const { day, week, month } = cents;
    if (day === "wrong" || week === "wrong" || month === "wrong") return;
    const body = { dayCents: day, weekCents: week, monthCents: month };
    void command.give(
      async () => {
        const now = await readAccount();
        if (!now.ok) return now;
        const known = isTouched ? typedBeside : limits;
        if (now.data.id !== own.id || !areSame(known, now.data.limits)) {
          keepAccount(now.data);
          setTypedBeside(now.data.limits);
          return { ok: false, problem: changedMeanwhile };
        }
        return await resultOf(ownApi.PUT("/api/account/limits", { body }));
      },
      (changed) => {
        forget(typed);
        const saved = { ...own, limits: changed };
        keepAccount(saved);
        announceChange();
        first?.onSaved(saved);
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
        {first && <LimitSuggestions chosen={values} onChoose={change} />}
        <div class="field-triple">
          {periods.map(({ name, label, limit }) => (
            <div key={name}>
              <Field
                label={label}
                name={name}
                unit="€"
                inputMode="decimal"
                value={values[name]}
                error={cents[name] === "wrong" ? wrongAmount : undefined}
                onValue={(text) => {
                  change({ [name]: text });
                }}
              />
              <Used limit={limits[name]} name={limit} />
            </div>
          ))}
        </div>
        <p class="hint">
          Lowering a limit holds at once. Raising or removing one takes 24 hours, in which you can
          change your mind.
        </p>
        {warning !== undefined && <Notice kind="warn">{warning}</Notice>}
        <ProblemNotice problem={command.problem} />
        {command.isDone && !isTouched && <Notice kind="good">Your limits are saved.</Notice>}
        <Submit isBusy={command.isBusy} disabled={isWrong}>
          {limits.reviewedAt === null ? "Confirm my limits" : "Save my limits"}
          {warning !== undefined && " as they are"}
        </Submit>
      </form>
    </Section>
  );
}

function Used({ limit, name }: { limit: LossLimit; name: string }): JSX.Element {
  const { limitCents, usedCents, pending } = limit;
  return (
    <div class="used">
      {limitCents !== null && (
        <meter
          aria-label={`Used of the ${name}`}
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

/** Whether the same limits hold, and wait to. What is used of them changes with every order. */
function areSame(one: Limits, other: Limits): boolean {
  return periods.every(
    ({ name }) =>
      one[name].limitCents === other[name].limitCents && textOf(one[name]) === textOf(other[name]),
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
