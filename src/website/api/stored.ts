/** What pages keep in the browser, which may not allow scripts to store anything, or have no room. */

type Kind = "localStorage" | "sessionStorage";

/** The text by a name; undefined if there is none. */
export function readStored(kind: Kind, name: string): string | undefined {
  try {
    return window[kind].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text by a name if it can be kept; undefined: removes what is there. */
export function writeStored(kind: Kind, name: string, text: string | undefined): void {
  try {
    if (text === undefined) window[kind].removeItem(name);
    else window[kind].setItem(name, text);
  } catch {
    // It lasts as long as the page.
  }
}
