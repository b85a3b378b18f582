import type { JSX } from "preact";
import { account } from "../api/account.ts";
import { Notice } from "./notice.tsx";

/** Says to a user whose account operators froze what that means. */
export function FrozenNotice(): JSX.Element | null {
  if (account.value?.frozen !== true) return null;
  return (
    <Notice kind="warn">
      <strong>Your account is frozen.</strong> You cannot trade, withdraw, or change your profile,
      password or keys. You can cancel orders, and lower limits. Please contact support.
    </Notice>
  );
}
