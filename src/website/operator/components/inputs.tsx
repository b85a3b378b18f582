import type { JSX } from "preact";
import { useId } from "preact/hooks";

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  /** What the empty choice says. */
  none: string;
  error?: string | undefined;
  hint?: string | undefined;
  onValue: (value: string) => void;
}

/** One of some values, or none. */
export function Select(props: SelectProps): JSX.Element {
  const { label, value, options, none, error, hint, onValue } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-invalid={error !== undefined}
        aria-describedby={(hint ?? error) ? `${id}-more` : undefined}
        onChange={(event) => {
          onValue(event.currentTarget.value);
        }}
      >
        <option value="">{none}</option>
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
      <More id={id} error={error} hint={hint} />
    </div>
  );
}

interface LongFieldProps {
  label: string;
  name: string;
  value: string;
  error?: string | undefined;
  hint?: string | undefined;
  onValue: (value: string) => void;
}

/** A text of several lines. */
export function LongField(props: LongFieldProps): JSX.Element {
  const { label, name, value, error, hint, onValue } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        name={name}
        rows={5}
        value={value}
        aria-invalid={error !== undefined}
        aria-describedby={(hint ?? error) ? `${id}-more` : undefined}
        onInput={(event) => {
          onValue(event.currentTarget.value);
        }}
      />
      <More id={id} error={error} hint={hint} />
    </div>
  );
}

interface MoreProps {
  id: string;
  error: string | undefined;
  hint: string | undefined;
}

function More({ id, error, hint }: MoreProps): JSX.Element | null {
  if (hint === undefined && error === undefined) return null;
  return (
    <div id={`${id}-more`}>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
