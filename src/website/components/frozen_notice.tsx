import type { JSX } from "preact";
import { account } from "../api/account.ts";
import { Notice } from "./notice.tsx";

/** Says to a user whose account operators froze what that means. */
export function FrozenNotice(): JSX.Element | null {
  if (account.value?.frozen !== true) return null;
  return (
    <Notice kind="warn">
      <strong>Your account is frozen.</strong> You cannot trade, change your profile, address,
      password or passkeys, make keys, or raise limits. You can cancel orders, revoke keys, end
      sessions and lower limits. Please contact support.
    </Notice>
  );
}
