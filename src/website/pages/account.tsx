import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { account, accountProblem, refreshAccount } from "../api/account.ts";
import { isSignedIn } from "../api/session.ts";
import { EmailSection } from "../components/account/email.tsx";
import { ExclusionSection } from "../components/account/exclusion.tsx";
import { KeysSection } from "../components/account/keys.tsx";
import { LimitsSection } from "../components/account/limits.tsx";
import { PasskeysSection } from "../components/account/passkeys.tsx";
import { PasswordSection } from "../components/account/password.tsx";
import { ProfileSection } from "../components/account/profile.tsx";
import { SessionsSection } from "../components/account/sessions.tsx";
import { Notice } from "../components/notice.tsx";
import { SignInFirst } from "../components/sign_in_first.tsx";
import { Failed, Loading } from "../components/states.tsx";
import { useTitle } from "../hooks/use_title.ts";

const sections = [
  { id: "limits", name: "Loss limits" },
  { id: "keys", name: "API keys" },
  { id: "profile", name: "Profile" },
  { id: "email", name: "E-mail" },
  { id: "password", name: "Password" },
  { id: "passkeys", name: "Passkeys" },
  { id: "sessions", name: "Browsers" },
  { id: "exclusion", name: "Self-exclusion" },
];

/** What users decide about their accounts. */
export function AccountPage(): JSX.Element {
  useTitle("Account");
  const own = account.value;
  useEffect(() => {
    // A link to a section came before there was one.
    if (own !== undefined) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [own === undefined]);
  if (!isSignedIn.value) return <SignInFirst title="Account" />;
  if (own === undefined) {
    const problem = accountProblem.value;
    return (
      <>
        <h1>Account</h1>
        {problem === undefined ? (
          <Loading lines={8} />
        ) : (
          <Failed problem={problem} onRetry={() => void refreshAccount()} />
        )}
      </>
    );
  }
  return (
    <>
      <h1>Account</h1>
      {!own.emailConfirmed && (
        <Notice kind="warn">
          Confirm {own.email}: follow the link in the mail we sent you. Until then you cannot make
          API keys.
        </Notice>
      )}
      {own.limits.reviewedAt === null && (
        <Notice kind="info">
          One more step before you can trade: set your loss limits, or confirm that you want none.
        </Notice>
      )}
      {/* What one user typed is not kept for another. */}
      <div class="account" key={own.id}>
        <nav class="account-nav" aria-label="Account">
          {sections.map(({ id, name }) => (
            <a key={id} href={`#${id}`}>
              {name}
            </a>
          ))}
        </nav>
        <div class="account-sections">
          <LimitsSection own={own} />
          <KeysSection />
          <ProfileSection own={own} />
          <EmailSection own={own} />
          <PasswordSection own={own} />
          <PasskeysSection />
          <SessionsSection />
          <ExclusionSection own={own} />
        </div>
      </div>
    </>
  );
}
