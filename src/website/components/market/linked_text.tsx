import type { JSX } from "preact";

const ADDRESS = /(https?:\/\/[^\s<>"'\\]+[^\s<>"'\\.,;:!?)])/;

/** A text in which addresses of the web are links, and nothing else is more than text. */
export function LinkedText({ text }: { text: string }): JSX.Element {
  return (
    <>
      {text.split(ADDRESS).map((part, index) =>
        // Every second part is what the pattern found.
        index % 2 === 1 ? (
          <a key={index} href={part} rel="nofollow noopener noreferrer">
            {part}
          </a>
        ) : (
          part
        ),
      )}
    </>
  );
}
