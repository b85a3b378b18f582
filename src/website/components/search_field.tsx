import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "./field.tsx";

const PAUSE_AFTER_TYPING_MS = 250;

interface SearchFieldProps {
  label: string;
  /** What is searched for. */
  text: string;
  onText: (text: string) => void;
}

/** Searches when the typing pauses, and shows what is searched for when the address changes. */
export function SearchField({ label, text, onText }: SearchFieldProps): JSX.Element {
  const [typed, setTyped] = useState(text);
  const known = useRef(text);
  useEffect(() => {
    // What comes back of the own typing is older than the field.
    if (text === known.current) return;
    known.current = text;
    setTyped(text);
  }, [text]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const next = typed.trim();
      if (next === known.current) return;
      known.current = next;
      onText(next);
    }, PAUSE_AFTER_TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [typed]);
  return (
    <search>
      <Field
        label={label}
        name="query"
        type="search"
        isLabelInside
        value={typed}
        onValue={setTyped}
      />
    </search>
  );
}
