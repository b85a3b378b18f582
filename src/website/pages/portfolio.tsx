import type { JSX } from "preact";
import { asAnswered } from "../api/answered_orders.ts";
import { ownApi } from "../api/client.ts";
import { hasTradedSince, ownVersion } from "../api/own_changes.ts";
import { resultOf } from "../api/result.ts";
import type { Result } from "../api/result.ts";
import { isSignedIn, session } from "../api/session.ts";
import type { Order, OwnPositions } from "../api/types.ts";
import { ClosedPositions } from "../components/portfolio/closed_positions.tsx";
import { History } from "../components/portfolio/history.tsx";
import { OpenOrders } from "../components/portfolio/open_orders.tsx";
import { Positions } from "../components/portfolio/positions.tsx";
import { SettledPositions } from "../components/portfolio/settled_positions.tsx";
import { Totals } from "../components/portfolio/totals.tsx";
import { ValueChart } from "../components/portfolio/value_chart.tsx";
import { FrozenNotice } from "../components/frozen_notice.tsx";
import { SignInFirst } from "../components/sign_in_first.tsx";
import { Show } from "../components/states.tsx";
import { UpdatingNote } from "../components/updating_note.tsx";
import { useAsked } from "../hooks/use_asked.ts";
import { useTitle } from "../hooks/use_title.ts";

/** What the user has, and how it came about. */
export function PortfolioPage(): JSX.Element {
  useTitle("Portfolio");
  if (!isSignedIn.value) return <SignInFirst title="Portfolio" />;
  return <OwnPortfolio key={session.value} />;
}

interface Own {
  own: OwnPositions;
  openOrders: Order[];
  askedAt: number;
}

function OwnPortfolio(): JSX.Element {
  const portfolio = useAsked(readOwn, [ownVersion.value]);
  return (
    <>
      <h1>Portfolio</h1>
      <FrozenNotice />
      <Show asked={portfolio} lines={8}>
        {({ own, openOrders, askedAt }) => (
          <>
            <UpdatingNote isOld={hasTradedSince(askedAt)} />
            <Totals own={own} />
            <Positions positions={own.positions} />
            <OpenOrders orders={asAnswered(openOrders, { askedAt })} />
            <ClosedPositions positions={own.closed} />
            <SettledPositions positions={own.settled} />
            <ValueChart />
            {/* Not before: what is above would push it down. */}
            <History />
          </>
        )}
      </Show>
    </>
  );
}

async function readOwn(): Promise<Result<Own>> {
  const askedAt = performance.now();
  const [own, orders] = await Promise.all([
    resultOf(ownApi.GET("/api/account/positions")),
    resultOf(ownApi.GET("/api/v1/orders")),
  ]);
  if (!own.ok) return own;
  if (!orders.ok) return orders;
  return { ok: true, data: { own: own.data, openOrders: orders.data.data, askedAt } };
}
