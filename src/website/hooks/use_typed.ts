import { useState } from "preact/hooks";

/** The values of a form about something that may change elsewhere while the form is open. */
interface Typed<Values> {
  /** What the user changed, and nothing else. */
  typed: Partial<Values>;
  /** What the form shows: what the user did not change follows what it is about. */
  values: Values;
  type: (change: Partial<Values>) => void;
  /** To be called when it is saved. What was typed since then stays. */
  forget: (saved: Partial<Values>) => void;
}

export function useTyped<Values extends object>(current: Values): Typed<Values> {
  const [typed, setTyped] = useState<Partial<Values>>({});
  return {
    typed,
    values: { ...current, ...typed },
    type: (change) => {
      setTyped((before) => otherThan(current, { ...before, ...change }));
    },
    forget: (saved) => {
      setTyped((before) => otherThan(saved, before));
    },
  };
}

/** Those of the values that `known` does not have as well. */
function otherThan<Values extends object>(
  known: Partial<Values>,
  values: Partial<Values>,
): Partial<Values> {
  const names = Object.keys(values) as (keyof Values)[];
  const others: Partial<Values> = {};
  for (const name of names) if (values[name] !== known[name]) others[name] = values[name];
  return others;
}
