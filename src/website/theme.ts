import { effect, signal } from "@preact/signals";
import { readStored, writeStored } from "./api/stored.ts";

/** Light or dark as the reader chose, or as the system wishes. */
export type Theme = "system" | "light" | "dark";

const NAME = "pgmarkets.theme";

export const theme = signal<Theme>(read());

/** Shows the theme, and keeps the choice. */
export function followTheme(): void {
  effect(() => {
    const chosen = theme.value;
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    writeStored("localStorage", NAME, chosen);
  });
}

function read(): Theme {
  const text = readStored("localStorage", NAME);
  return text === "light" || text === "dark" ? text : "system";
}
