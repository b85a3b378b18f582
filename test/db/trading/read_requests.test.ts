import { randomUUID } from "node:crypto";
import test from "ava";
import { placeOrderSchema } from "../../../src/api/orders.ts";
import { testDatabase } from "../../helpers/database/test_database.ts";

/**
 * Which fields of an order go together is checked twice: at the door, so that a malformed order
 * costs no other order anything, and in the database, which relies on it. The two must agree.
 */

const database = testDatabase(test);

const choices = {
  side: ["yes"],
  price: [undefined, null, 0, 1, 99, 100],
  quantity: [null, 0, 1, 10_000, 10_001],
  budgetCents: [null, 0, 1, 1_000_000, 1_000_001],
  orderType: [null, "buy", "sell"],
  timeInForce: [null, "gtc", "ioc"],
  postOnly: [null, false, true],
};

type Order = Record<string, unknown>;

/** Every order that these choices make. */
function combine(): Order[] {
  return Object.entries(choices).reduce<Order[]>(
    (orders, [field, values]) =>
      orders.flatMap((order) => values.map((value) => ({ ...order, [field]: value }))),
    [{ marketId: randomUUID() }],
  );
}

/** JSON knows the difference between an absent and a null price, a row of the database does not. */
const lacksPrice = ({ price, budgetCents, orderType }: Order) =>
  price === undefined && budgetCents === null && orderType !== "sell";

const isAboutBounds = (problem: string) => problem.includes(": must be ");

const fieldOf = (problem: string) => problem.split(":")[0];

test("INVALID_REQUEST: the database finds the same orders malformed as POST /orders", async (t) => {
  const orders = combine().filter((order) => !lacksPrice(order));
  const { rows } = await database.pool.query(
    "select unnest(r.problem) as problem from trading.read_requests(orders => $1) as r",
    [JSON.stringify(orders)],
  );
  t.is(rows.length, orders.length);
  const met = new Set<string | null>();
  orders.forEach((order, index) => {
    const inDatabase: string | null = rows[index].problem;
    const issue = placeOrderSchema.safeParse(order).error?.issues[0];
    const atDoor = issue === undefined ? null : `${issue.path.join(".")}: ${issue.message}`;
    met.add(inDatabase);
    const isSame =
      inDatabase !== null && isAboutBounds(inDatabase)
        ? atDoor !== null && fieldOf(atDoor) === fieldOf(inDatabase)
        : atDoor === inDatabase;
    if (!isSame) t.fail(`${JSON.stringify(order)}: ${String(atDoor)}, ${String(inDatabase)}`);
  });
  t.deepEqual([...met].filter((problem) => problem === null || !isAboutBounds(problem)).sort(), [
    "budgetCents: excludes quantity",
    "budgetCents: not for a sell",
    null,
    "postOnly: needs a price and gtc, and no budgetCents",
    "quantity: required for a sell",
    "quantity: required without budgetCents",
  ]);
});

test("INVALID_REQUEST: a buy without budget says its price, if only that it is null", (t) => {
  const lacking = combine().filter(lacksPrice);
  t.true(lacking.length > 50);
  t.deepEqual(
    lacking.filter((order) => placeOrderSchema.safeParse(order).success),
    [],
  );
});
