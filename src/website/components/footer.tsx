import type { JSX } from "preact";
import { theme } from "../theme.ts";
import { Choice } from "./choice.tsx";

const themes = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;

/** The bottom of every page. */
export function Footer(): JSX.Element {
  return (
    <footer class="footer">
      <div class="footer-inner">
        <p>
          Trade only what you can afford to lose. <a href="/account#limits">Loss limits</a> and{" "}
          <a href="/account#exclusion">self-exclusion</a> are in your account.
        </p>
        <nav class="footer-links" aria-label="More">
          <a href="/help">How it works</a>
          <a href="/docs">API for bots</a>
        </nav>
        <Choice
          label="Colours"
          value={theme.value}
          options={themes}
          onChange={(value) => {
            theme.value = value;
          }}
        />
      </div>
    </footer>
  );
}
