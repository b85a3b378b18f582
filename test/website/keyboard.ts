import type { Page } from "playwright-core";

/** What has the focus, as the page shows it. */
export interface Focused {
  /** The accessible name, as far as the pages need it. */
  name: string;
  tag: string;
  /** Whether something around it, or after it as with options, has an outline. */
  isVisible: boolean;
  /** Whether it lies in the window. */
  isInWindow: boolean;
}

// Runs in the page: this program knows no documents.
const describeFocused = `(() => {
  const element = document.activeElement;
  const label = element.labels?.[0]?.innerText;
  const name = element.getAttribute("aria-label") ?? label ?? element.innerText ?? "";
  const outlined = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const next = element.nextElementSibling;
  const isVisible =
    element.matches(":focus-visible") &&
    (outlined(getComputedStyle(element)) ||
      outlined(getComputedStyle(element, "::after")) ||
      (element.matches("input[type=radio]") && outlined(getComputedStyle(next))));
  const { top, bottom } = element.getBoundingClientRect();
  return {
    name: name.trim().replace(/\\s+/g, " "),
    tag: element.tagName,
    isVisible,
    isInWindow: bottom > 0 && top < innerHeight,
  };
})()`;

export async function focused(page: Page): Promise<Focused> {
  return await page.evaluate(describeFocused);
}

/** Presses a key. Throws if the focus is lost by it, or cannot be seen. */
export async function press(page: Page, key: string): Promise<Focused> {
  await page.keyboard.press(key);
  const found = await focused(page);
  // The part of a page that gets the focus after a link has no outline: its heading is new.
  if (found.tag === "MAIN") return found;
  if (found.tag === "BODY") throw new Error(`${key} loses the focus`);
  if (!found.isVisible) throw new Error(`${key}: no one sees that “${found.name}” has the focus`);
  if (!found.isInWindow) throw new Error(`${key}: “${found.name}” is outside the window`);
  return found;
}

const MOST_TABS = 80;

/** Presses Tab until what has the focus has this name. */
export async function tabTo(page: Page, name: string | RegExp, key = "Tab"): Promise<Focused> {
  const passed: string[] = [];
  for (let count = 0; count < MOST_TABS; count++) {
    const found = await press(page, key);
    if (typeof name === "string" ? found.name === name : name.test(found.name)) return found;
    passed.push(found.name);
  }
  throw new Error(`${key} does not lead to ${String(name)}, but to ${passed.join(", ")}`);
}

/** Goes to a field and types. What was in it is replaced, as Tab selects it. */
export async function typeInto(page: Page, name: string | RegExp, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.type(text);
}
