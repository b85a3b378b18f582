import type { ComponentChildren, JSX, TargetedEvent } from "preact";
import { useId } from "preact/hooks";
import { fieldOf, issueSentence } from "../api/issue_words.ts";
import type { Problem } from "../api/result.ts";

interface FieldProps {
  label: string;
  name: string;
  value: string;
  onValue: (value: string) => void;
  type?: "text" | "email" | "password" | "search" | "datetime-local" | undefined;
  hint?: ComponentChildren;
  error?: string | undefined;
  autocomplete?: string;
  inputMode?: "numeric" | "decimal";
  unit?: string;
  required?: boolean;
  disabled?: boolean;
  /** Shows the label in the empty field, and beside it only to screen readers. */
  isLabelInside?: boolean;
}

/** The value of a field for a time that has only a part of one. */
const HALF_TYPED = "half-typed";

/** Browsers give such a part as "", as if the field were empty. */
function valueOf({ validity, value }: HTMLInputElement): string {
  return validity.badInput ? HALF_TYPED : value;
}

/** A labelled input with a hint and what is wrong with its value. */
export function Field(props: FieldProps): JSX.Element {
  const { label, name, value, onValue, type = "text", hint, error, unit } = props;
  const id = useId();
  const read = (event: TargetedEvent<HTMLInputElement>): void => {
    onValue(valueOf(event.currentTarget));
  };
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`];
  return (
    <div class="field">
      <label for={id} class={props.isLabelInside === true ? "unseen" : undefined}>
        {label}
      </label>
      <div class={unit === undefined ? "input-box" : "input-box has-unit"}>
        <input
          {...typeOf(type)}
          id={id}
          name={name}
          value={value === HALF_TYPED ? "" : value}
          required={props.required ?? false}
          disabled={props.disabled ?? false}
          autocomplete={props.autocomplete ?? "off"}
          inputMode={props.inputMode ?? "text"}
          placeholder={props.isLabelInside === true ? label : undefined}
          aria-invalid={error !== undefined}
          aria-describedby={described.filter(Boolean).join(" ") || undefined}
          onInput={read}
          // A part of a time that is typed is no input to browsers.
          {...(type === "datetime-local" && { onKeyUp: read, onBlur: read })}
        />
        {unit !== undefined && (
          <span class="unit" aria-hidden="true">
            {unit}
          </span>
        )}
      </div>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** The element's types allow each type of input by itself only. */
function typeOf(type: NonNullable<FieldProps["type"]>): { type: "text" } {
  return { type: type as "text" };
}

/** What the server found wrong with a field, or with a value of its list. */
export function issueOf(problem: Problem | undefined, path: string): string | undefined {
  const message = problem?.issues?.find((issue) => fieldOf(issue.path) === path)?.message;
  return message === undefined ? undefined : issueSentence("This", message);
}

/** A problem, unless all of it stands beside these fields. */
export function problemBeside(
  problem: Problem | undefined,
  paths: readonly string[],
): Problem | undefined {
  const issues = problem?.issues ?? [];
  return issues.length > 0 && issues.every(({ path }) => paths.includes(fieldOf(path)))
    ? undefined
    : problem;
}

/** Tells password managers whose password a form is about. */
export function KnownUser({ email }: { email: string }): JSX.Element {
  return (
    <input type="text" name="username" autocomplete="username" value={email} readOnly hidden />
  );
}

interface CheckboxProps {
  label: string;
  isChecked: boolean;
  onChange: (isChecked: boolean) => void;
  hint?: string;
  disabled?: boolean;
}

export function Checkbox(props: CheckboxProps): JSX.Element {
  const { label, isChecked, onChange, hint, disabled = false } = props;
  return (
    <label class="checkbox">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={disabled}
        onChange={(event) => {
          onChange(event.currentTarget.checked);
        }}
      />
      <span>
        {label}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  );
}
