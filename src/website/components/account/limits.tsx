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

type Cents = number | null | "wrong";
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
  const cents = wantedCents(limits, typed);
  const isWrong = Object.values(cents).includes("wrong");
  const warning = isTouched ? higherThanLonger(cents) : undefined;
  const change = (texts: Partial<Record<Period, string>>): void => {
    if (!isTouched) setTypedBeside(limits);
    type(texts);
  };
  const save = ({ day, week, month }: Record<Period, Cents>, saves: typeof typed): void => {
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
        forget(saves);
        setTypedBeside(changed);
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
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save(cents, typed);
        }}
        noValidate
      >
        {first && <LimitSuggestions chosen={values} onChoose={change} />}
        <div class="field-triple">
          {periods.map((period) => (
            <LimitField
              key={period.name}
              {...period}
              limit={limits[period.name]}
              value={values[period.name]}
              isWrong={cents[period.name] === "wrong"}
              onValue={(text) => {
                change({ [period.name]: text });
              }}
              onKeep={() => {
                const { limitCents } = limits[period.name];
                save({ ...wantedCents(limits, {}), [period.name]: limitCents }, {});
              }}
            />
          ))}
        </div>
        <p class="hint">
          Lowering a limit holds at once. Raising or removing one takes 24 hours, in which you can
          change your mind.
        </p>
        {warning !== undefined && <Notice kind="warn">{warning}</Notice>}
        <ProblemNotice problem={command.problem} />
        {command.isDone && !isTouched && <Notice kind="good">{savedWords(limits)}</Notice>}
        <Submit isBusy={command.isBusy} disabled={isWrong}>
          {limits.reviewedAt === null ? "Confirm my limits" : "Save my limits"}
          {warning !== undefined && " as they are"}
        </Submit>
      </form>
    </Section>
  );
}

interface PendingProps {
  limit: LossLimit;
  /** Of the limit, such as "daily limit". */
  limitName: string;
  /** Takes back what waits. */
  onKeep: () => void;
}

interface LimitFieldProps extends PendingProps {
  name: Period;
  label: string;
  value: string;
  isWrong: boolean;
  onValue: (text: string) => void;
}

function LimitField(props: LimitFieldProps): JSX.Element {
  const { limit, limitName, name, label, value, isWrong, onValue, onKeep } = props;
  return (
    <div>
      <Field
        {...{ label, name, value, onValue }}
        unit="€"
        inputMode="decimal"
        error={isWrong ? wrongAmount : undefined}
      />
      <Used {...{ limit, limitName }} />
      <Pending {...{ limit, limitName, onKeep }} />
    </div>
  );
}

function Used({ limit, limitName }: Pick<PendingProps, "limit" | "limitName">): JSX.Element {
  const { limitCents, usedCents } = limit;
  return (
    <div class="used">
      {limitCents !== null && (
        <meter
          aria-label={`Used of the ${limitName}`}
          min={0}
          max={Math.max(limitCents, 1)}
          value={Math.min(usedCents, limitCents)}
        />
      )}
      <p class="hint">
        {formatCents(usedCents)} used
        {limitCents === null ? ", no limit" : ` of ${formatCents(limitCents)}`}
      </p>
    </div>
  );
}

/** A raise or a removal that waits, and how to take it back. */
function Pending({ limit, limitName, onKeep }: PendingProps): JSX.Element | null {
  const { limitCents, pending } = limit;
  if (pending === null || limitCents === null) return null;
  return (
    <>
      <p class="hint pending">
        {pending.limitCents === null ? "No limit" : formatCents(pending.limitCents)} from{" "}
        {formatDateTime(pending.at)}
      </p>
      <button
        type="button"
        class="button button-small"
        aria-label={`Keep ${formatCents(limitCents)} as the ${limitName}`}
        onClick={onKeep}
      >
        Keep {formatCents(limitCents)}
      </button>
    </>
  );
}

function savedWords({ day, week, month }: Limits): string {
  const isWaiting = [day, week, month].some(({ pending }) => pending !== null);
  return isWaiting
    ? "Your limits are saved. What you raised or removed holds from the time beside it."
    : "Your limits are saved.";
}

/** Whether the same limits hold, and wait to. What is used of them changes with every order. */
function areSame(one: Limits, other: Limits): boolean {
  return periods.every(
    ({ name }) =>
      one[name].limitCents === other[name].limitCents &&
      laterCents(one[name]) === laterCents(other[name]),
  );
}

/** What a limit is when nothing waits any more. */
function laterCents({ limitCents, pending }: LossLimit): number | null {
  return pending === null ? limitCents : pending.limitCents;
}

/** What is not typed stays as it is, and so does the change of it that waits. */
function wantedCents(
  limits: Limits,
  typed: Partial<Record<Period, string>>,
): Record<Period, Cents> {
  const wanted = (name: Period): Cents => {
    const text = typed[name];
    return text === undefined ? laterCents(limits[name]) : centsOf(text);
  };
  return { day: wanted("day"), week: wanted("week"), month: wanted("month") };
}

/** What is in force. */
function textOf({ limitCents }: LossLimit): string {
  return limitCents === null ? "" : (limitCents / 100).toFixed(2);
}

function centsOf(text: string): Cents {
  return text.trim() === "" ? null : (parseEuros(text) ?? "wrong");
}
