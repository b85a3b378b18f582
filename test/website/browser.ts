import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";

/** Chromium as Debian installs it, if it is there. Nothing is downloaded. */

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = programs.find(existsSync);

/** Why nothing can be tried in a browser here. Undefined if it can. */
export const noBrowser =
  program === undefined ? "no Chromium is installed (apt-get install chromium)" : undefined;

/** Starts a browser. Throws where none is installed. */
export async function launchBrowser(): Promise<Browser> {
  if (program === undefined) throw new Error(noBrowser);
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return await chromium.launch({ executablePath: program, args });
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
