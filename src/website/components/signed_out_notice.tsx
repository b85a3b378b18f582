import type { JSX } from "preact";
import { wasSignedOut } from "../api/session.ts";
import type { PageName } from "../paths.ts";
import { address, page } from "../router.ts";
import { Notice } from "./notice.tsx";

/** Pages on which the user is about to sign in. */
const entries = new Set<PageName | undefined>(["signIn", "signUp", "confirm", "reset"]);

/** On every page: that the session ended, without the user. */
export function SignedOutNotice(): JSX.Element | null {
  if (!wasSignedOut.value || entries.has(page.value?.name)) return null;
  return (
    <div class="wide-notice">
      <Notice kind="warn">
        You were signed out.{" "}
        <a href={`/sign-in?back=${encodeURIComponent(address.value)}`}>Sign in again</a>
      </Notice>
    </div>
  );
}
