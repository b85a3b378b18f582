import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { account, accountProblem, mayTrade, refreshAccount } from "../api/account.ts";
import { isSignedIn } from "../api/session.ts";
import type { OwnProfile } from "../api/types.ts";
import { AgeSection } from "../components/account/age.tsx";
import { EmailSection } from "../components/account/email.tsx";
import { ExclusionSection } from "../components/account/exclusion.tsx";
import { KeysSection } from "../components/account/keys.tsx";
import { LimitsSection } from "../components/account/limits.tsx";
import { PasskeysSection } from "../components/account/passkeys.tsx";
import { PasswordSection } from "../components/account/password.tsx";
import { ProfileSection } from "../components/account/profile.tsx";
import { ProofSection } from "../components/account/proof.tsx";
import { RealityCheckSection } from "../components/account/reality_check.tsx";
import { SessionsSection } from "../components/account/sessions.tsx";
import { UnconfirmedWords } from "../components/account/unconfirmed.tsx";
import { Failed } from "../components/failed.tsx";
import { FrozenNotice } from "../components/frozen_notice.tsx";
import { Notice } from "../components/notice.tsx";
import { SignInFirst } from "../components/sign_in_first.tsx";
import { Loading } from "../components/states.tsx";
import { useTitle } from "../hooks/use_title.ts";
import { navigate, query, safeReturnPath } from "../router.ts";

const sections = [
  { id: "limits", name: "Loss limits" },
  { id: "reality-check", name: "Reality check" },
  { id: "keys", name: "API keys" },
  { id: "profile", name: "Profile" },
  { id: "email", name: "E-mail" },
  { id: "password", name: "Password" },
  { id: "passkeys", name: "Passkeys" },
  { id: "sessions", name: "Browsers" },
  { id: "proof", name: "Proof of balances" },
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
  if (query.value.get("first") === "limits") return <FirstLimits key={own.id} own={own} />;
  return (
    <>
      <h1>Account</h1>
      <FrozenNotice />
      {!own.emailConfirmed && (
        <Notice kind="warn">
          <UnconfirmedWords own={own} />
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
          {own.ageToConfirm !== null && <AgeSection age={own.ageToConfirm} />}
          <LimitsSection own={own} />
          <RealityCheckSection own={own} />
          <KeysSection />
          <ProfileSection own={own} />
          <EmailSection own={own} />
          <PasswordSection own={own} />
          <PasskeysSection />
          <SessionsSection own={own} />
          <ProofSection own={own} />
          <ExclusionSection own={own} />
        </div>
      </div>
    </>
  );
}

/**
 * What is left between a user and an order: the first limits, and the age where it is asked for; then
 * back to where the user came from.
 */
function FirstLimits({ own }: { own: OwnProfile }): JSX.Element {
  const { ageToConfirm, limits } = own;
  const isDone = mayTrade(own);
  const back = safeReturnPath(query.value.get("back"));
  const next = useRef<HTMLAnchorElement>(null);
  // The button that had the focus is gone.
  useEffect(() => next.current?.focus(), [isDone]);
  const goBackIfDone = (changed: OwnProfile): void => {
    if (mayTrade(changed)) navigate(back, { replace: true });
  };
  return (
    <div class="narrow wide-text">
      <h1>{isDone ? "You can trade now" : "One more step before you can trade"}</h1>
      {!own.emailConfirmed && (
        <Notice kind="info">
          <UnconfirmedWords own={own} />
        </Notice>
      )}
      {isDone ? (
        <Notice kind="good">Your limits are saved. You can change them in your account.</Notice>
      ) : (
        <>
          {ageToConfirm !== null && <AgeSection age={ageToConfirm} onConfirmed={goBackIfDone} />}
          {limits.reviewedAt === null && (
            <LimitsSection own={own} first={{ onSaved: goBackIfDone }} />
          )}
        </>
      )}
      <div class="button-row">
        {isDone && (
          <a class="button button-main" href={back} ref={next}>
            {back.startsWith("/markets/") ? "Back to the market" : "See the markets"}
          </a>
        )}
        <a class="button" href="/account">
          All settings
        </a>
      </div>
    </div>
  );
}
