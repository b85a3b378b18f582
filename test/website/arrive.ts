import type { Browser, Page } from "playwright-core";
import type { TestService } from "../helpers/http/test_service.ts";
import { makeMember } from "../helpers/http/visitor.ts";
import { visit } from "./browser.ts";

interface ArriveOptions {
  /** Where the pages are, if not at the service itself. */
  url?: string;
  width?: number;
  dayCents?: number | null;
}

/** Somebody on the website. */
export interface Arrived {
  page: Page;
  userId: string;
  email: string;
  password: string;
  complaints: string[];
}

/** Somebody with reviewed limits who signs in, in a browser of their own. */
export async function arrive(
  browser: Browser,
  service: TestService,
  { url = service.url, width, dayCents = null }: ArriveOptions = {},
): Promise<Arrived> {
  const { visitor, person, userId } = await makeMember(service);
  const body = { dayCents, weekCents: null, monthCents: null };
  await visitor.call("PUT", "/api/account/limits", { body });
  const { page, complaints } = await visit(browser, url, width === undefined ? {} : { width });
  const { email, password } = person;
  await page.goto("/sign-in?back=/portfolio");
  await signIn(page, email, password);
  await page.waitForURL("/portfolio");
  return { page, userId, email, password, complaints };
}

/** Fills in the form of /sign-in. */
export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}
