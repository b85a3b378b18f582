import { issueWords } from "./issue_words.ts";
import { isSignedOut } from "./result.ts";
import type { Problem } from "./result.ts";

/** A problem in words, and the next step. */
export interface Advice {
  text: string;
  next?: { label: string; href: string };
}

const toLimits = { label: "Do it now", href: "/account?first=limits" };

const byCode: Record<string, Advice> = {
  TRADING_PAUSED: {
    text: "Trading is paused on the whole exchange. You can cancel your open orders.",
  },
  SELF_EXCLUDED: {
    text: "You excluded yourself from trading. You can still see and cancel what you have.",
    next: { label: "See your exclusion", href: "/account#exclusion" },
  },
  LIMITS_SETUP_REQUIRED: {
    text: "Before your first order, set your loss limits or confirm that you want none, and confirm your age if you are asked for it.",
    next: toLimits,
  },
  LOSS_LIMIT: {
    text: "This order could take you over one of your loss limits. Order less, or cancel an open order.",
    next: { label: "See your limits", href: "/account#limits" },
  },
  INSUFFICIENT_BALANCE: {
    text: "You do not have enough cash or shares for this order. Order less.",
    next: { label: "See your portfolio", href: "/portfolio" },
  },
  INSUFFICIENT_LIQUIDITY: {
    text: "Nobody offers the other side at this price now. Try another price, or a limit order that waits.",
  },
  SELF_TRADE_BLOCKED: {
    text: "This order would trade with an open order of your own. Cancel that one first.",
  },
  POST_ONLY_WOULD_CROSS: {
    text: "This order would trade at once, and you asked that it does not. Choose a price further away.",
  },
  ACCOUNT_FROZEN: { text: "Your account is frozen. Please contact support." },
  BELOW_FILLED: { text: "More of this order is filled already. Choose a larger quantity." },
  OUTCOME_UNKNOWN: {
    text: "We do not know yet whether this was carried out. Try again: it will not happen twice.",
  },
  STOPPED: {
    text: "You stopped it. It is not known whether the order was placed: look at your open orders and trades.",
    next: { label: "See your portfolio", href: "/portfolio" },
  },
  UNREADABLE: {
    text: "The server's answer is not what this page expects. Try again, or load the page again.",
  },
  PARTLY_CANCELLED: {
    text: "The exchange was busy: some orders may not be cancelled yet. Please try again.",
  },
  CONFLICT_RETRY: { text: "The exchange was busy and nothing was done. Please try again." },
  SIGNED_OUT: { text: "You are signed out. The order was not placed." },
  SIGNED_OUT_UNKNOWN: {
    text: "You are signed out. It is not known whether the order was placed: after you sign in, a notice says what to do.",
  },
  WRONG_PASSWORD: { text: "The password is wrong." },
  INVALID_LINK: { text: "This link was used before or is too old. Ask for a new one." },
  SIGN_UP_CLOSED: { text: "Sign-up needs an invitation from the operator." },
  INVALID_PASSKEY: {
    text: "This passkey was not accepted: it may have been removed from its account, or it took too long. Try again, or use your password.",
  },
  SIGN_IN_AGAIN: {
    text: "Passkeys can be changed within ten minutes after you signed in. Nothing was changed.",
    next: { label: "Sign in again", href: "/sign-in?back=/account%23passkeys" },
  },
  EMAIL_UNCONFIRMED: {
    text: "Confirm your e-mail address first: follow the link in the mail we sent you.",
    next: { label: "Send it again", href: "/account#email" },
  },
};

/** What to tell the user about a problem. Who must sign in, or set limits, comes back to `back`. */
export function adviceOn(problem: Problem, back?: string): Advice {
  const known = problem.code === undefined ? undefined : byCode[problem.code];
  if (isSignedOut(problem)) {
    const next = { label: "Sign in", href: withBack("/sign-in", "?", back) };
    return { text: known?.text ?? "You are signed out.", next };
  }
  if (known?.next === toLimits) {
    return { ...known, next: { ...toLimits, href: withBack(toLimits.href, "&", back) } };
  }
  if (known !== undefined) return known;
  if (problem.status === 0) {
    return { text: "The server gave no answer. Check your connection and try again." };
  }
  if (problem.status === 429) return { text: tooMany(problem.retryAfterSeconds) };
  if (problem.status >= 500) return { text: "Something went wrong on our side. Please try again." };
  return { text: issueWords(problem) ?? sentence(problem.error) };
}

function withBack(href: string, sign: "?" | "&", back: string | undefined): string {
  return back === undefined ? href : `${href}${sign}back=${encodeURIComponent(back)}`;
}

function tooMany(seconds: number | undefined): string {
  if (seconds === undefined) return "Too many requests. Wait a moment and try again.";
  const [count, unit] = seconds <= 100 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return `Too many requests. Try again in ${count} ${unit}${count === 1 ? "" : "s"}.`;
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
