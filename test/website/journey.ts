import test from "ava";
import type { ExecutionContext } from "ava";
import type { Browser } from "playwright-core";
import { launchBrowser, noBrowser } from "./browser.ts";

/** The browser of the test file: to start one takes as much work as a short journey. */
let browser: Browser | undefined;

async function openBrowser(): Promise<Browser> {
  if (browser?.isConnected() !== true) browser = await launchBrowser();
  return browser;
}

if (noBrowser === undefined) {
  test.after.always("close the browser", async () => {
    await browser?.close();
  });
}

/**
 * Declares a test in a browser that keeps nothing of the test before. Where none is installed, AVA
 * lists it as skipped.
 */
export function journey(
  title: string,
  run: (t: ExecutionContext, browser: Browser) => Promise<void>,
): void {
  if (noBrowser !== undefined) {
    test.serial.skip(`${title}: ${noBrowser}`, () => undefined);
    return;
  }
  test.serial(title, async (t) => {
    const opened = await openBrowser();
    t.teardown(() => Promise.all(opened.contexts().map((context) => context.close())));
    try {
      await run(t, opened);
    } catch (error) {
      await logPages(t, opened);
      throw error;
    }
  });
}

/** What the pages show when a journey fails. */
async function logPages(t: ExecutionContext, opened: Browser): Promise<void> {
  for (const page of opened.contexts().flatMap((context) => context.pages())) {
    t.log(page.url(), await page.locator("body").innerText({ timeout: 1000 }).catch(String));
  }
}
