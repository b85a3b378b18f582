/** What `api.place_orders` takes: orders, all of them for one market, as JSON text. */
export function ordersIn(marketId: string, orders: readonly object[]): string {
  return JSON.stringify(orders.map((order) => ({ marketId, ...order })));
}
