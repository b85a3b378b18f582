import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { asAnswered } from "../../api/answered_orders.ts";
import { ownApi } from "../../api/client.ts";
import { hasTradedSince, ownVersion } from "../../api/own_changes.ts";
import { shownPositions } from "../../api/own_positions.ts";
import { resultOf } from "../../api/result.ts";
import type { Result } from "../../api/result.ts";
import type {
  ClosedPosition,
  Market,
  Order,
  OwnPosition as Held,
  SettledPosition,
} from "../../api/types.ts";
import { useAsked } from "../../hooks/use_asked.ts";
import { Show } from "../states.tsx";
import { UpdatingNote } from "../updating_note.tsx";
import { OwnOrders } from "./own_orders.tsx";
import { OwnPosition } from "./own_position.tsx";

interface Own {
  orders: Order[];
  positions: Held[];
  settled: SettledPosition[];
  closed: ClosedPosition[];
  askedAt: number;
  readAt: number;
}

interface OwnPanelProps {
  market: Pick<Market, "id" | "status">;
  /** Whether the user may place and change orders. */
  mayTrade: boolean;
  onSell: (position: Held) => void;
}

/** The user's position and open orders in a market. */
export function OwnPanel({ market, mayTrade, onSell }: OwnPanelProps): JSX.Element {
  const { id: marketId, status } = market;
  // The last answer may be from before: a market that has ended has no open orders.
  const hasEnded = status === "closed" || status === "resolved";
  const own = useAsked(() => readOwn(marketId), [marketId, ownVersion.value]);
  useEffect(() => {
    shownPositions.value = own.data?.positions;
    return () => {
      shownPositions.value = undefined;
    };
  }, [own.data]);
  return (
    <Show asked={own}>
      {({ orders, positions, settled, closed, askedAt, readAt }) => (
        <>
          <section class="panel" aria-labelledby="position-title">
            <h2 id="position-title">Your position</h2>
            <UpdatingNote isOld={hasTradedSince(askedAt, marketId)} />
            <OwnPosition
              positions={positions}
              settled={settled}
              closed={closed}
              onSell={mayTrade && status === "open" ? onSell : undefined}
            />
          </section>
          <section class="panel" aria-labelledby="orders-title">
            <h2 id="orders-title">Your open orders</h2>
            <OwnOrders
              orders={hasEnded ? [] : asAnswered(orders, { askedAt, marketId })}
              marketId={marketId}
              mayChange={mayTrade}
              readAt={readAt}
            />
          </section>
        </>
      )}
    </Show>
  );
}

async function readOwn(marketId: string): Promise<Result<Own>> {
  const askedAt = performance.now();
  const query = { marketId, status: "open" } as const;
  const [orders, own] = await Promise.all([
    resultOf(ownApi.GET("/api/v1/orders", { params: { query } })),
    resultOf(ownApi.GET("/api/account/positions", { params: { query: { marketId } } })),
  ]);
  if (!orders.ok) return orders;
  if (!own.ok) return own;
  const { positions, settled, closed } = own.data;
  return {
    ok: true,
    data: {
      orders: orders.data.data,
      positions,
      settled,
      closed,
      askedAt,
      readAt: performance.now(),
    },
  };
}
