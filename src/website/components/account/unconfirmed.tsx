import type { JSX } from "preact";
import type { OwnProfile } from "../../api/types.ts";

/** What an account cannot do before its address is confirmed, and what becomes of it without that. */
export function UnconfirmedWords({ own: { email } }: { own: OwnProfile }): JSX.Element {
  return (
    <>
      Confirm {email}: follow the link in the mail we sent you. Until then you cannot make API keys
      or passkeys, and if you sign out you cannot sign in again. An account that is not confirmed
      within 30 days ends.
    </>
  );
}

/** Before the user of such an account signs out. */
export function SignOutWords({ own: { email } }: { own: OwnProfile }): JSX.Element {
  return (
    <>
      {email} is not confirmed yet. Once you have signed out you cannot sign in again before you
      have followed the link in the mail we sent there.
    </>
  );
}
