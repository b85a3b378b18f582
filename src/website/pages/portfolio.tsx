import type { JSX } from "preact";
import { ownApi } from "../api/client.ts";
import { ownVersion } from "../api/own_changes.ts";
import { resultOf } from "../api/result.ts";
import { isSignedIn } from "../api/session.ts";
import type { Portfolio } from "../api/types.ts";
import { History } from "../components/portfolio/history.tsx";
import { OpenOrders } from "../components/portfolio/open_orders.tsx";
import { Positions } from "../components/portfolio/positions.tsx";
import { SettledPositions } from "../components/portfolio/settled_positions.tsx";
import { costOf, isSettled, worthOf } from "../components/portfolio/worth.ts";
import { SignInFirst } from "../components/sign_in_first.tsx";
import { Show } from "../components/states.tsx";
import { formatCents, formatChange, toneOf } from "../format.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useEvery } from "../hooks/use_every.ts";
import { useTitle } from "../hooks/use_title.ts";

/** Prices of held shares change with the trades of others. */
const READ_EVERY_MS = 15_000;

/** What the user has, and how it came about. */
export function PortfolioPage(): JSX.Element {
  useTitle("Portfolio");
  return isSignedIn.value ? <OwnPortfolio /> : <SignInFirst title="Portfolio" />;
}

function OwnPortfolio(): JSX.Element {
  const portfolio = useAsked(
    () => resultOf(ownApi.GET("/api/v1/me/portfolio")),
    [ownVersion.value],
  );
  useEvery(READ_EVERY_MS, portfolio.askAgain);
  return (
    <>
      <h1>Portfolio</h1>
      <Show asked={portfolio} lines={8}>
        {(data) => (
          <>
            <Totals portfolio={data} />
            <Positions positions={data.positions.filter((position) => !isSettled(position))} />
            <OpenOrders orders={data.openOrders} />
            <SettledPositions positions={data.positions.filter(isSettled)} />
          </>
        )}
      </Show>
      <History />
    </>
  );
}

function Totals({ portfolio }: { portfolio: Portfolio }): JSX.Element {
  const { balance, positions } = portfolio;
  const held = positions.filter((position) => !isSettled(position));
  const cost = sumOf(held.map(costOf));
  const worth = sumOf(held.map((position) => worthOf(position) ?? costOf(position)));
  const realised = sumOf(positions.map(({ realisedPnl }) => realisedPnl));
  return (
    <dl class="panel facts facts-wide totals">
      <div>
        <dt>Cash</dt>
        <dd>{formatCents(balance)}</dd>
      </div>
      <div>
        <dt>Shares at the last price</dt>
        <dd>{formatCents(worth)}</dd>
      </div>
      <div>
        <dt>Unrealised</dt>
        <dd class={toneOf(worth - cost)}>{formatChange(worth - cost)}</dd>
      </div>
      <div>
        <dt>Realised on these positions</dt>
        <dd class={toneOf(realised)}>{formatChange(realised)}</dd>
      </div>
    </dl>
  );
}

function sumOf(cents: number[]): number {
  return cents.reduce((sum, one) => sum + one, 0);
}
