import type { Pool } from "pg";
import type { Browser, Page } from "playwright-core";
import type { TestService } from "../helpers/http/test_service.ts";
import { makeMember } from "../helpers/http/visitor.ts";
import { visit } from "./browser.ts";

/** Somebody with reviewed limits who signs in, in a browser of their own. */
export async function arrive(
  browser: Browser,
  service: TestService,
  worker: Pool,
): Promise<{ page: Page; userId: string }> {
  const { visitor, person, userId } = await makeMember(service, worker);
  const body = { dayCents: null, weekCents: null, monthCents: null };
  await visitor.call("PUT", "/api/account/limits", { body });
  const { page } = await visit(browser, service.url);
  await page.goto("/sign-in?back=/portfolio");
  await page.getByLabel("E-mail").fill(person.email);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("/portfolio");
  return { page, userId };
}
