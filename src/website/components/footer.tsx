import type { JSX } from "preact";
import { ownPages } from "../own_pages.ts";
import { ThemeChoice } from "./theme_choice.tsx";

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
          <a href="/proof">Proof of balances</a>
          <a href="/docs">API for bots</a>
          {ownPages.list.map(({ name, title }) => (
            <a key={name} href={`/pages/${name}`}>
              {title}
            </a>
          ))}
        </nav>
        <ThemeChoice />
      </div>
    </footer>
  );
}
