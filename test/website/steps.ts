import type { Locator, Page, Route } from "playwright-core";
import type { TestService, Trader } from "../helpers/http/test_service.ts";

/** What several journeys do. */

/** A market where a trader sells 100 YES at 60. */
export async function makeOffered(
  { call, makeMarket, makeTrader }: TestService,
  title: string,
): Promise<{ marketId: string; maker: Trader }> {
  const marketId = await makeMarket({ title });
  const maker = await makeTrader();
  const body = { marketId, side: "no", price: 40, quantity: 100 };
  await call("POST", "/api/v1/orders", { key: maker.key, body });
  return { marketId, maker };
}

/** Of the ticket. */
export const kindOfOrder = (page: Page, name: "Amount" | "Limit" | "Shares now"): Locator =>
  page.getByRole("radio", { name, exact: true });

/** A limit order. */
export async function fillTicket(page: Page, price: number, quantity: number): Promise<void> {
  await kindOfOrder(page, "Limit").check();
  await page.getByLabel("Price", { exact: true }).fill(String(price));
  await page.getByLabel("Shares", { exact: true }).fill(String(quantity));
}

/** Waits for the figures of the server, of which only the first are not folded. */
export async function previewed(page: Page): Promise<void> {
  await page.getByText("Cash afterwards").waitFor({ state: "attached" });
}

export const buyButton = (page: Page): Locator =>
  page.getByRole("button", { name: "Buy YES", exact: true });

/** Places an order to buy YES by the ticket. */
export async function buy(page: Page, price: number, quantity: number): Promise<void> {
  await fillTicket(page, price, quantity);
  await buyButton(page).click();
}

/** How many shares a user holds in all. */
export async function sharesOf({ database }: TestService, userId: string): Promise<number> {
  const { rows } = await database.pool.query(
    `select coalesce(sum(p.quantity), 0)::int as held
     from trading.positions as p join identity.users as u on u.id = p.user_id
     where u.public_id = $1`,
    [userId],
  );
  return rows[0].held;
}

/** The status of each order of a user, in the order they were placed. */
export async function statusesOf({ database }: TestService, userId: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ status: string }>(
    `select o.status
     from trading.orders as o join identity.users as u on u.id = o.user_id
     where u.public_id = $1 order by o.created_at, o.id`,
    [userId],
  );
  return rows.map(({ status }) => status);
}

/** The server carries a request out, and the browser never hears of it. */
export async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort();
}
