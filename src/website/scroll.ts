/**
 * Keeps in each entry of the history how far down the reader was. The browser's own memory does not
 * help: a page that is shown again reads its lists anew, and is short until they are there.
 */

const PAUSE_MS = 150;
/** A list takes no longer, usually. */
const LONGEST_MS = 5000;
const ofReader = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

let noting: ReturnType<typeof setTimeout> | undefined;
let isRestoring = false;

/** The state of a new entry of the history. */
export const atTheTop = { scrollY: 0 };

/** Starts to note how far down the reader is, and goes there after a load of the page. */
export function followScroll(): void {
  history.scrollRestoration = "manual";
  addEventListener("scroll", () => {
    clearTimeout(noting);
    if (!isRestoring) noting = setTimeout(noteScroll, PAUSE_MS);
  });
  for (const name of ofReader) {
    addEventListener(name, () => void (isRestoring = false), { passive: true });
  }
  restoreScroll();
}

/** To be called before another entry of the history is made. */
export function noteScroll(): void {
  clearTimeout(noting);
  history.replaceState({ scrollY }, "");
}

/**
 * Goes to where the reader was in this entry of the history, once the page is long enough. What the
 * reader does meanwhile ends it.
 */
export function restoreScroll(): void {
  clearTimeout(noting);
  const { scrollY: wanted } = (history.state ?? {}) as { scrollY?: number };
  // An entry that a link within the page made: the browser has gone there.
  if (wanted === undefined) return;
  const until = performance.now() + LONGEST_MS;
  isRestoring = true;
  const goIfLongEnough = (): void => {
    if (!isRestoring) return;
    const most = document.documentElement.scrollHeight - innerHeight;
    if (most < wanted && performance.now() < until) {
      requestAnimationFrame(goIfLongEnough);
      return;
    }
    isRestoring = false;
    scrollTo(0, wanted);
  };
  requestAnimationFrame(goIfLongEnough);
}
