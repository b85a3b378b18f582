import type { JSX } from "preact";
import { theme } from "../theme.ts";
import { Choice } from "./choice.tsx";

const themes = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

/** Light or dark pages, or as the system has it. */
export function ThemeChoice(): JSX.Element {
  return (
    <Choice
      label="Colours"
      value={theme.value}
      options={themes}
      onChange={(value) => {
        theme.value = value;
      }}
    />
  );
}
