import type { JSX } from "preact";
import { initialsOf } from "./initials.ts";

interface PersonProps {
  displayName: string;
  handle: string;
}

/** A person by initials and names. Pictures are on other hosts, from which pages load nothing. */
export function Person({ displayName, handle }: PersonProps): JSX.Element {
  return (
    <span class="person">
      <span class="portrait" aria-hidden="true">
        {initialsOf(displayName)}
      </span>
      <span>
        {displayName} <span class="muted small">@{handle}</span>
      </span>
    </span>
  );
}
