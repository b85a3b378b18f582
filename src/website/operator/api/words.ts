import { isUncertain } from "../../api/result.ts";
import type { Problem } from "../../api/result.ts";
import { showCents } from "./values.ts";

/** Problems in words for staff. */

const byCode: Record<string, string> = {
  APPROVAL_REQUIRED: "Another member of staff must approve this.",
  ROLE_REQUIRED: "None of your roles allows this. Nothing was changed.",
  OWN_PROPOSAL: "You proposed this yourself. Another member of staff must approve it.",
  PROPOSAL_CHANGED:
    "What this proposal rests on has changed since it was made. Reject it, and propose it anew.",
  OUTCOME_UNKNOWN:
    "It is not known whether this was carried out. Look at the audit or the list before you try it again.",
  CONFLICT_RETRY: "The exchange was busy and nothing was done. Please try again.",
  UNREADABLE: "The server's answer is not what this page expects. Load the page again.",
  INVALID_LINK: "This invitation was used before or is too old. Ask a colleague for a new one.",
  INVALID_PASSKEY: "This passkey was not accepted. Try again with the one of your staff account.",
  SIGN_IN_AGAIN: "Passkeys can be changed within ten minutes after a sign-in. Sign in again.",
};

const NOT_COMPARED =
  "The day is not compared with the bank since it has ended: use “Compare a day with the bank” on this page first.";

/** A command whose answer was lost may have been carried out, but for a preview. */
export function ofCommand(query: string, problem: Problem): Problem {
  const isLost = /^mutation(?!.*: previewResolution\()/.test(query) && isUncertain(problem);
  return isLost ? { ...problem, code: "OUTCOME_UNKNOWN" } : problem;
}

/** What to tell a member of staff about a problem. */
export function wordsOf(problem: Problem): string {
  const { code, status, error, retryAfterSeconds } = problem;
  const known = code === undefined ? undefined : byCode[code];
  if (known !== undefined) return known;
  if (status === 0) return "The server gave no answer. Check your connection and try again.";
  if (status === 401) return "You are signed out. Sign in again.";
  if (status === 429) {
    return retryAfterSeconds === undefined
      ? "Too many requests. Wait a moment and try again."
      : `Too many requests. Try again in ${retryAfterSeconds} s.`;
  }
  // What programs are told names a function.
  if (error.includes("call admin.reconcile")) return NOT_COMPARED;
  if (status >= 500) return "Something went wrong on the server; its log says what.";
  return sentence(error);
}

function sentence(text: string): string {
  const words = inEuros(text);
  const capital = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}

/** Amounts in euros, as on the pages, but for those of a share and within a text that was typed. */
function inEuros(text: string): string {
  if (/share|exclusive/.test(text)) return text;
  return text.replace(/'[^']*'|(-?\d+) cents/g, (found, cents?: string) =>
    cents === undefined ? found : showCents(cents),
  );
}
