import { randomBytes } from "node:crypto";
import test from "ava";
import { formatSecret } from "../../src/secrets.ts";
import { routes } from "../../src/api/routes.ts";
import type { Route } from "../../src/api/route.ts";
import { bodyFor } from "../helpers/http/bodies.ts";
import { testService } from "../helpers/http/test_service.ts";
import type { Trader } from "../helpers/http/test_service.ts";

/** Made from the table of routes: a new one is tried as well. */

const service = testService(test);
const { call, makeMarket, makeTrader, makeTraders } = service;

const noSuchId = "01900000-0000-7000-8000-000000000000";
const withKey = routes.filter(({ auth }) => auth === "key");
// Streams do not end: test/http/user_stream.test.ts checks whose events they have.
const answering = withKey.filter(({ tag }) => tag !== "Streams");

const callRoute = ({ method, path }: Route, id: string, options: Parameters<typeof call>[2]) =>
  call(method.toUpperCase(), path.replace(":id", id), options);

/** What strangers try to get at. */
let owned: Awaited<ReturnType<typeof makeOwner>>;

test.serial.before("make an owner", async () => {
  owned = await makeOwner();
});

test("there are routes that need a key", (t) => {
  t.true(withKey.length > 5);
});

for (const route of withKey) {
  const name = `${route.method.toUpperCase()} ${route.path}`;

  test(`401 UNAUTHORIZED before anything else: ${name} without a key, and with what is none`, async (t) => {
    for (const key of [undefined, "nonsense", formatSecret(randomBytes(32), "jk_")]) {
      for (const id of [noSuchId, "1", "%ZZ"]) {
        const body = route.request.body && { body: "{no JSON" };
        const asked = { ...route, path: `${route.path}?status=nonsense` };
        const answer = await callRoute(asked, id, { ...(key && { key }), ...body });
        t.is(answer.status, 401);
        t.deepEqual(answer.body, { error: "Unauthorized" });
        t.is(answer.headers.get("cache-control"), "no-store");
      }
    }
  });

  if (!answering.includes(route)) continue;
  test(`a user can't read or change anything of another: ${name}`, async (t) => {
    const { orderId, marketId, owner } = owned;
    const stranger = await makeTrader();
    const body = route.request.body && { body: bodyFor(route, orderId, marketId) };
    const answer = await callRoute(route, orderId, { key: stranger.key, ...body });
    if (route.path.includes(":id")) {
      t.is(answer.status, 404);
      t.regex(answer.body.error, /^(?:Order not found|Market not found|Event not found)$/);
    }
    const told = JSON.stringify(answer.body);
    t.false(told.includes(owner.userId), told);
    if (name !== "POST /api/v1/orders/cancel-batch") t.false(told.includes(orderId), told);
    t.deepEqual(await viewOf(owner), owned.view);
  });
}

/** A trader with an order that rests and shares, and what they see of them. */
async function makeOwner() {
  const marketId = await makeMarket();
  const [owner, other] = await makeTraders(2);
  const place = (trader: Trader, order: Record<string, unknown>) =>
    call("POST", "/api/v1/orders", { key: trader.key, body: { marketId, ...order } });
  await place(other, { side: "no", price: 40, quantity: 5 });
  await place(owner, { side: "yes", price: 60, quantity: 5 });
  const { body } = await place(owner, { side: "yes", price: 10, quantity: 5 });
  return { owner, marketId, orderId: body.order.id as string, view: await viewOf(owner) };
}

const viewOf = async ({ key }: Trader) => [
  (await call("GET", "/api/v1/me", { key })).body,
  (await call("GET", "/api/v1/me/portfolio", { key })).body,
  (await call("GET", "/api/v1/orders?status=all", { key })).body,
];
