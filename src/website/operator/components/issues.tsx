import type { JSX } from "preact";
import { Notice } from "../../components/notice.tsx";
import { showCount } from "../api/values.ts";

/** What is wrong with a file or a list: the first ten, and how many more. */
export function Issues({ issues }: { issues: readonly string[] }): JSX.Element {
  return (
    <Notice kind="bad">
      <ul>
        {issues.slice(0, 10).map((issue) => (
          <li key={issue}>{issue}</li>
        ))}
      </ul>
      {issues.length > 10 && <p>And {showCount(issues.length - 10)} more.</p>}
    </Notice>
  );
}
