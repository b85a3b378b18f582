import type { JSX } from "preact";
import { account } from "../api/account.ts";
import { isSignedIn } from "../api/session.ts";
import { formatCents } from "../format.ts";
import { useSignUpIsClosed } from "../hooks/use_sign_up_is_closed.ts";
import type { PageName } from "../paths.ts";
import { address, backQuery, page } from "../router.ts";

const links: { href: string; label: string; name: PageName }[] = [
  { href: "/", label: "Markets", name: "home" },
  { href: "/events", label: "Events", name: "events" },
  { href: "/portfolio", label: "Portfolio", name: "portfolio" },
  { href: "/leaderboard", label: "Leaderboard", name: "leaderboard" },
  { href: "/help", label: "Help", name: "help" },
];

/** The top of every page. */
export function Header(): JSX.Element {
  return (
    <header class="header">
      <div class="header-inner">
        <a class="brand" href="/" aria-label="pgmarkets, all markets">
          <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
            <rect width="32" height="32" rx="8" fill="currentColor" />
            <path d="M7 21l6-6 4 4 8-9" class="brand-line" />
          </svg>
          <span>pgmarkets</span>
        </a>
        <nav class="nav" aria-label="Main">
          {links.map(({ href, label, name }) => (
            <a key={name} href={href} aria-current={page.value?.name === name ? "page" : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <div class="header-own">{isSignedIn.value ? <OwnLinks /> : <SignInLinks />}</div>
      </div>
    </header>
  );
}

function OwnLinks(): JSX.Element {
  const own = account.value;
  return (
    <>
      <a class="cash" href="/portfolio">
        <span class="cash-label">Cash</span>
        <span class="number">{own === undefined ? "…" : formatCents(own.balance)}</span>
      </a>
      <a class="button button-small" href="/account">
        Account
      </a>
    </>
  );
}

const places = new Set<PageName>(["market", "event", "events", "leaderboard"]);

/** Where the reader goes on after signing in or up. */
function wayBack(): string {
  const name = page.value?.name;
  if (name === "signIn" || name === "signUp") return backQuery();
  const isPlace = name !== undefined && places.has(name);
  return isPlace ? `?back=${encodeURIComponent(address.value)}` : "";
}

function SignInLinks(): JSX.Element {
  const isSignUpClosed = useSignUpIsClosed();
  return (
    <>
      <a class="button button-quiet button-small" href={`/sign-in${wayBack()}`}>
        Sign in
      </a>
      {!isSignUpClosed && (
        <a class="button button-main button-small" href={`/sign-up${wayBack()}`}>
          Sign up
        </a>
      )}
    </>
  );
}
