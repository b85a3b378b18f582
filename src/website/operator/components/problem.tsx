import type { JSX } from "preact";
import type { Problem } from "../../api/result.ts";
import { Notice } from "../../components/notice.tsx";
import { wordsOf } from "../api/words.ts";

/** A problem in words for staff. */
export function StaffProblem({ problem }: { problem: Problem | undefined }): JSX.Element | null {
  return problem === undefined ? null : <Notice kind="bad">{wordsOf(problem)}</Notice>;
}
