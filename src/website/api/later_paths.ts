import type { components } from "./schema.d.ts";

/** Routes of spec 35, 36, 40 and 41 until the OpenAPI document has them. */

type Get<Query, Body, Path = never> = {
  parameters: {
    query?: Query;
    header?: never;
    path: Path;
    cookie?: never;
  };
  get: {
    parameters: { query?: Query; header?: never; path: Path; cookie?: never };
    requestBody?: never;
    responses: {
      200: { headers: Record<string, unknown>; content: { "application/json": Body } };
      default: {
        headers: Record<string, unknown>;
        content: { "application/json": components["schemas"]["Error"] };
      };
    };
  };
};

export interface Candle {
  start: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
  trades: number;
}

export interface OrderFill {
  id: string;
  orderId: string;
  marketId: string;
  side: "yes" | "no";
  orderType: "buy" | "sell";
  price: number;
  quantity: number;
  liquidity: "maker" | "taker";
  feeCents: number;
  cashCents: number;
  balanceAfter: number;
  realisedPnl: number | null;
  createdAt: string;
}

export interface StatementEntry {
  id: string;
  kind: string;
  amountCents: number;
  balanceAfter: number;
  marketId: string | null;
  tradeId: string | null;
  reference: string | null;
  createdAt: string;
}

export type HistoryOrder = components["schemas"]["Order"] & {
  averagePrice: number | null;
  feeCents: number;
};

interface Cursor {
  cursor?: string;
  limit?: number;
}

interface PageOf<Item> {
  data: Item[];
  nextCursor: string | null;
}

interface MarketsPage {
  data: components["schemas"]["ListedMarket"][];
  meta: { total: number; page: number; limit: number; hasMore: boolean };
}

interface MarketsQuery {
  query?: string;
  category?: string;
  status?: "open" | "closed" | "all";
  sort?: "volume" | "newest" | "closing";
  page?: number;
  limit?: number;
}

interface CandlesQuery {
  interval: "1m" | "1h" | "1d";
  from?: string;
  to?: string;
}

export interface LaterPaths {
  "/api/v1/markets": Get<MarketsQuery, MarketsPage, undefined>;
  "/api/v1/markets/{id}/candles": Get<CandlesQuery, { data: Candle[] }, { id: string }>;
  "/api/v1/me/order-history": Get<Cursor, PageOf<HistoryOrder>, undefined>;
  "/api/v1/me/fills": Get<Cursor, PageOf<OrderFill>, undefined>;
  "/api/v1/me/statement": Get<Cursor, PageOf<StatementEntry>, undefined>;
}
