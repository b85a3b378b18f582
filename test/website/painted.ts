import type { Page } from "playwright-core";

/**
 * When a page paints a text for the first time, as milliseconds since 1970. To be called before
 * what is to be seen happens.
 */
export async function paintedAt(page: Page, text: string): Promise<number> {
  // Runs in the page: this program knows no documents.
  return await page.evaluate(`new Promise((resolve) => {
    const text = ${JSON.stringify(text)};
    const look = () => {
      if (!document.body.innerText.includes(text)) return false;
      observer.disconnect();
      performance.mark(text + ": changed");
      // The frame that shows it begins after the change, and is over when the next task runs.
      requestAnimationFrame(() => setTimeout(() => {
        const { startTime } = performance.mark(text + ": painted");
        resolve(performance.timeOrigin + startTime);
      }));
      return true;
    };
    const observer = new MutationObserver(look);
    if (!look()) {
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    }
  })`);
}
