import { effect, signal } from "@preact/signals";

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
    try {
      localStorage.setItem(NAME, chosen);
    } catch {
      // The choice lasts as long as the page.
    }
  });
}

function read(): Theme {
  try {
    const text = localStorage.getItem(NAME);
    return text === "light" || text === "dark" ? text : "system";
  } catch {
    return "system";
  }
}
