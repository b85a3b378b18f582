import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { ExecutionContext } from "ava";
import type { Page } from "playwright-core";
import { asManyOf } from "../helpers/random.ts";
import { scrollsSideways } from "./browser.ts";

/** A page is looked at in both themes, on a phone and on a desk. */
export interface View {
  theme: "light" | "dark";
  width: number;
}

export const views = asManyOf<View>(
  (["light", "dark"] as const).flatMap((theme) => [375, 1280].map((width) => ({ theme, width }))),
);

const folder = process.env.SCREENSHOTS;

/** Looks at a page as it is now: nothing sticks out, and axe finds nothing. */
export async function look(
  t: ExecutionContext,
  page: Page,
  name: string,
  view: View,
): Promise<void> {
  if (folder !== undefined) await keep(page, join(folder, `${name}-${view.theme}-${view.width}`));
  t.false(await scrollsSideways(page), `${name} scrolls sideways`);
  // Pages have no frames and no media: without what is for these it takes a quarter of the time.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ preload: false });
  const { violations } = await axe.analyze();
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target }) => `${name}: ${id} at ${target.join(" ")}`),
  );
  t.deepEqual(found, []);
}

async function keep(page: Page, path: string): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  // The header stays at the top of the window, wherever that is.
  await page.evaluate("scrollTo(0, 0)");
  await page.screenshot({ path: `${path}.png`, fullPage: true });
}
