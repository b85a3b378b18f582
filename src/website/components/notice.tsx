import type { ComponentChildren, JSX } from "preact";
import { adviceOn } from "../api/advice.ts";
import type { Problem } from "../api/result.ts";
import { address } from "../router.ts";

interface NoticeProps {
  kind: "info" | "good" | "bad" | "warn";
  children: ComponentChildren;
}

/** A message in a box. Screen readers hear it when it appears. */
export function Notice({ kind, children }: NoticeProps): JSX.Element {
  return (
    <div class={`notice notice-${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

interface ProblemNoticeProps {
  problem: Problem | undefined;
  /** Words in place of the usual ones. */
  words?: string | undefined;
}

/** A problem in words, and a link to the next step. */
export function ProblemNotice({ problem, words }: ProblemNoticeProps): JSX.Element | null {
  if (problem === undefined) return null;
  const { text, next } = adviceOn(problem, address.value);
  return (
    <Notice kind="bad">
      {words ?? text} {next && <a href={next.href}>{next.label}</a>}
    </Notice>
  );
}
