import type { JSX } from "preact";
import { ownApi } from "../../api/client.ts";
import { ownVersion } from "../../api/own_changes.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type { Order, Position } from "../../api/types.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { useEvery } from "../../hooks/use_every.ts";
import { Show } from "../states.tsx";
import { OwnOrders } from "./own_orders.tsx";
import { OwnPosition } from "./own_position.tsx";

/** The user's place in the queue changes with the orders of others. */
const READ_EVERY_MS = 10_000;

interface Own {
  orders: Order[];
  positions: Position[];
  readAt: number;
}

interface OwnPanelProps {
  marketId: string;
  onSell: (position: Position) => void;
}

/** The user's position and open orders in a market. */
export function OwnPanel({ marketId, onSell }: OwnPanelProps): JSX.Element {
  const own = useAsked(() => readOwn(marketId), [marketId, ownVersion.value]);
  useEvery(READ_EVERY_MS, own.askAgain);
  return (
    <Show asked={own}>
      {({ orders, positions, readAt }) => (
        <>
          <section class="panel" aria-labelledby="position-title">
            <h2 id="position-title">Your position</h2>
            <OwnPosition positions={positions} onSell={onSell} />
          </section>
          <section class="panel" aria-labelledby="orders-title">
            <h2 id="orders-title">Your open orders</h2>
            <OwnOrders orders={orders} readAt={readAt} />
          </section>
        </>
      )}
    </Show>
  );
}

async function readOwn(marketId: string): Promise<Result<Own>> {
  const query = { marketId, status: "open" } as const;
  const [orders, portfolio] = await Promise.all([
    resultOf(ownApi.GET("/api/v1/orders", { params: { query } })),
    resultOf(ownApi.GET("/api/v1/me/portfolio")),
  ]);
  if (!orders.ok) return orders;
  if (!portfolio.ok) return portfolio;
  const positions = portfolio.data.positions.filter((held) => held.marketId === marketId);
  return { ok: true, data: { orders: orders.data.data, positions, readAt: performance.now() } };
}
