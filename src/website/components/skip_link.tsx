import type { JSX, RefObject } from "preact";

/** The first link of every page: past what all pages have, to the content. */
export function SkipLink({ main }: { main: RefObject<HTMLElement | null> }): JSX.Element {
  return (
    <a
      class="skip"
      href="#main"
      onClick={(event) => {
        // The address keeps its fragment, which may be the token of a link.
        event.preventDefault();
        main.current?.focus();
      }}
    >
      Skip to content
    </a>
  );
}
