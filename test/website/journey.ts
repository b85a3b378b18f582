import test from "ava";
import type { ExecutionContext } from "ava";
import type { Browser } from "playwright-core";
import { launchBrowser, noBrowser } from "./browser.ts";

/** Declares a test in a browser of its own. Where none is installed, AVA lists it as skipped. */
export function journey(
  title: string,
  run: (t: ExecutionContext, browser: Browser) => Promise<void>,
): void {
  if (noBrowser !== undefined) {
    test.serial.skip(`${title}: ${noBrowser}`, () => undefined);
    return;
  }
  test.serial(title, async (t) => {
    const browser = await launchBrowser();
    t.teardown(() => browser.close());
    await run(t, browser);
  });
}
