import type { JSX } from "preact";
import { useTitle } from "../hooks/use_title.ts";

/** For paths without a page. The server answers them with status 404. */
export function NotFoundPage(): JSX.Element {
  useTitle("Page not found");
  return (
    <div class="narrow centred-text">
      <p class="big-number">404</p>
      <h1>There is no such page</h1>
      <p class="muted">The address may be mistyped, or the link too old.</p>
      <p>
        <a class="button button-main" href="/">
          See all markets
        </a>
      </p>
    </div>
  );
}
