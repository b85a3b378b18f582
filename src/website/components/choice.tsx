import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: ComponentChildren; tone?: "yes" | "no" }[];
  onChange: (value: Value) => void;
}

/** One of a few values, side by side. The arrow keys move between them. */
export function Choice<Value extends string>(props: ChoiceProps<Value>): JSX.Element {
  const { label, value, options, onChange } = props;
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.value} class={`choice-option tone-${option.tone ?? "plain"}`}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => {
              onChange(option.value);
            }}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
