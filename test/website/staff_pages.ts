import type { TestFn } from "ava";
import type { Browser, Page } from "playwright-core";
import type { RunningServer } from "../../src/server/start_server.ts";
import { listenForStaff } from "../helpers/http/staff_desk.ts";
import type { TestService } from "../helpers/http/test_service.ts";
import { takeMails } from "../helpers/http/visitor.ts";
import { visit } from "./browser.ts";
import type { Visit } from "./browser.ts";
import { plugIn } from "./device.ts";

const roles = ["audit", "cash", "incidents", "markets", "staff", "users"];

/** Of each member of staff. */
export const staffPassword = "a long password for work";

/** The pages of staff in a real browser, on a server with a login of operators. */
export interface StaffPages {
  /** Passkeys belong to a name: none works at an IP address. */
  readonly url: string;
  /** Invites a person, who makes a password and a passkey and is on the overview then. */
  welcome: (browser: Browser, name: string, options?: object) => Promise<Visit>;
}

/** To be called once at the top of a test file. */
export function staffPages(test: TestFn, service: TestService): StaffPages {
  let desk: RunningServer | undefined;
  let url = "";
  test.serial.before("listen for staff", async () => {
    desk = await listenForStaff(service, { website: true });
    url = desk.url.replace("127.0.0.1", "localhost");
  });
  test.after.always("stop listening for staff", async () => {
    await desk?.close();
  });
  return {
    get url() {
      return url;
    },
    welcome: async (browser, name, options = {}) => {
      const email = `${name.toLowerCase()}@staff.example`;
      await service.operate("create_staff", { email, name, roles });
      const mails = await takeMails(service.worker);
      const { token } = mails.find(({ to }) => to === email)!;
      const visited = await visit(browser, url, options);
      const { page } = visited;
      await plugIn(page);
      await page.goto(`/operator/welcome#${token}`);
      await page.getByText(`this is your account of staff: ${email}`).waitFor();
      await page.getByLabel("New password").fill(staffPassword);
      await page.getByLabel("Name of the passkey").fill("a laptop");
      await page.getByRole("button", { name: "Make the passkey and begin" }).click();
      await page.getByRole("heading", { name: "Overview" }).waitFor();
      return visited;
    },
  };
}

/** Presses the button of a form, and again in the dialog that asks, and says `words`. */
export async function confirm(
  page: Page,
  action: string,
  words = "",
  others: string[] = [],
): Promise<void> {
  await page.getByRole("button", { name: action, exact: true }).click();
  const dialog = page.getByRole("dialog");
  for (const said of words === "" ? others : [words, ...others]) {
    await dialog.getByText(said).waitFor();
  }
  await dialog.getByRole("button", { name: action, exact: true }).click();
}
