import { existsSync } from "node:fs";
import type { ExecutionContext } from "ava";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";

/** Chromium as Debian installs it, if it is there. Nothing is downloaded. */

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = programs.find(existsSync);

/** Why nothing is tried in a browser. */
export const noBrowser = "no Chromium is installed (apt-get install chromium)";

/** A browser, or undefined where none is installed. */
export async function launchBrowser(): Promise<Browser | undefined> {
  if (program === undefined) return undefined;
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return await chromium.launch({ executablePath: program, args });
}

/** A browser, or undefined where none is installed: the test then says so and ends. */
export async function openBrowser(t: ExecutionContext): Promise<Browser | undefined> {
  const browser = await launchBrowser();
  if (browser === undefined) {
    t.log(`not run: ${noBrowser}`);
    t.pass();
    return undefined;
  }
  t.teardown(() => browser.close());
  return browser;
}

export interface Visit {
  page: Page;
  /** What the browser complained about, such as errors and blocked styles. */
  complaints: string[];
}

interface VisitOptions {
  width?: number;
  theme?: "light" | "dark";
}

/** A new person at a computer: a context of their own, with no cookies. */
export async function visit(
  browser: Browser,
  baseURL: string,
  { width = 1280, theme = "light" }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    ...{ baseURL, colorScheme: theme, locale: "en-IE" },
    viewport: { width, height: width < 600 ? 800 : 900 },
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "log") complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}

/** Whether the page is wider than the window. */
export async function scrollsSideways(page: Page): Promise<boolean> {
  return await page.evaluate("document.documentElement.scrollWidth > innerWidth");
}
