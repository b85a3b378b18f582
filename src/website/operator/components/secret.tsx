import type { JSX } from "preact";
import { Notice } from "../../components/notice.tsx";

/** What nobody can read again, and what it is in words. */
export function Secret({ words, text }: { words: string; text: string }): JSX.Element {
  return (
    <Notice kind="warn">
      <p>{words}. It is shown only now:</p>
      <p class="code secret">{text}</p>
    </Notice>
  );
}
