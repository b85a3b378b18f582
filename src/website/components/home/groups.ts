import type { ListedMarket } from "../../api/types.ts";

/** Markets of one event stand together, where the first of them does. */
export interface MarketGroup {
  eventId: string | null;
  markets: ListedMarket[];
}

export function groupByEvent(markets: ListedMarket[]): MarketGroup[] {
  const groups: MarketGroup[] = [];
  for (const market of markets) {
    const known =
      market.eventId === null
        ? groups.at(-1)?.eventId === null
          ? groups.at(-1)
          : undefined
        : groups.find(({ eventId }) => eventId === market.eventId);
    if (known === undefined) groups.push({ eventId: market.eventId, markets: [market] });
    else known.markets.push(market);
  }
  return groups;
}
