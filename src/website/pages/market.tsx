import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { account, accountProblem, mayTrade } from "../api/account.ts";
import { publicApi } from "../api/client.ts";
import { followMarket, followStatus } from "../api/market_stream.ts";
import type { Trading } from "../api/market_stream.ts";
import { announceChange, newsVersion } from "../api/own_changes.ts";
import { resultOf } from "../api/result.ts";
import { isSignedIn, session } from "../api/session.ts";
import { forgetTicket, keepTicket, keptTicket } from "../api/ticket_draft.ts";
import type { Market, MarketResolution, MarketStatus } from "../api/types.ts";
import { MarketChart } from "../components/chart/market_chart.tsx";
import { bestPriceOf, bestPricesOf } from "../components/market/best_price.ts";
import { ExcludedNotice, StateNotice } from "../components/market/state_notice.tsx";
import { Ladder } from "../components/market/ladder.tsx";
import { MarketHead } from "../components/market/market_head.tsx";
import { OwnPanel } from "../components/market/own_panel.tsx";
import { RulesPanel } from "../components/market/rules_panel.tsx";
import { SideBar } from "../components/market/side_bar.tsx";
import { Ticket } from "../components/market/ticket.tsx";
import { changedTicket, followingTicket, newTicket } from "../components/market/ticket_order.ts";
import type { Ticket as TicketValues } from "../components/market/ticket_order.ts";
import { Trades } from "../components/market/trades.tsx";
import { Loading, Show } from "../components/states.tsx";
import { Unknown } from "../components/unknown.tsx";
import { useAfterTrades } from "../hooks/use_after_trades.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { useEvery } from "../hooks/use_every.ts";
import { useInView } from "../hooks/use_in_view.ts";
import { useResolution } from "../hooks/use_resolution.ts";
import { useTitle } from "../hooks/use_title.ts";
import { query } from "../router.ts";

const READ_EVERY_MS = 60_000;

/** One market: its chance, its book, and the user's dealings in it. */
export function MarketPage({ id }: { id: string }): JSX.Element {
  const market = useAsked(
    () => resultOf(publicApi.GET("/api/v1/markets/{id}", { params: { path: { id } } })),
    // An order may be cancelled or rejected because the market is not open any more.
    [id, newsVersion.value],
  );
  const [snapshot, setSnapshot] = useState<Trading>();
  useEffect(() => followMarket(id, setSnapshot), [id]);
  useAfterTrades(snapshot?.recentTrades, market.askAgain);
  const isBookEmpty = snapshot === undefined || isEmpty(snapshot);
  const wasBookEmpty = useRef(isBookEmpty);
  useEffect(() => {
    if (isBookEmpty && !wasBookEmpty.current) market.askAgain();
    wasBookEmpty.current = isBookEmpty;
  }, [isBookEmpty]);
  const status = market.data?.status;
  const liveStatus = useGuestsStatus(id);
  useEffect(() => {
    if (liveStatus !== undefined && liveStatus !== status) market.askAgain();
  }, [liveStatus, status]);
  // A page without a stream hears of nothing else.
  useEvery(READ_EVERY_MS, market.askAgain);
  const before = useRef(status);
  useEffect(() => {
    // A resolution pays out, and closing cancels orders: cash, shares and orders are read anew.
    if (before.current !== undefined && before.current !== status) announceChange();
    before.current = status;
  }, [status]);
  const isUnknown = market.data === undefined && market.problem?.status === 404;
  useTitle(isUnknown ? "Market not found" : market.data?.title);
  if (isUnknown) return <Unknown what="market" />;
  return (
    <Show asked={market} lines={8} title="Market">
      {(data) => (
        // What one user typed is not kept for another.
        <MarketView key={session.value} read={data} snapshot={snapshot} />
      )}
    </Show>
  );
}

/**
 * The status of a market for visitors who are not signed in. Users hear of it by their own stream:
 * at once where they have orders or shares, and else when their version rises. They get no third
 * stream, because a browser allows a site few connections.
 */
function useGuestsStatus(id: string): MarketStatus | undefined {
  const [status, setStatus] = useState<MarketStatus>();
  const isGuest = !isSignedIn.value;
  useEffect(() => (isGuest ? followStatus(id, setStatus) : undefined), [id, isGuest]);
  return isGuest ? status : undefined;
}

interface MarketViewProps {
  /** The market as it was last read. */
  read: Market;
  snapshot: Trading | undefined;
}

function MarketView({ read, snapshot }: MarketViewProps): JSX.Element {
  const resolution = useResolution(read);
  const market = withResolution(withLivePrices(read, snapshot), resolution);
  const [filled, setTicket] = useTicket(market);
  const ticket = followingTicket(filled, market);
  const ticketBox = useRef<HTMLDivElement>(null);
  const [seeTicket, isTicketInView] = useInView();
  const exclusion = account.value?.exclusion ?? null;
  const change = (values: Partial<TicketValues>): void => {
    setTicket((before) => changedTicket(before, values, market));
  };
  const takeTo = (values: Partial<TicketValues>, block?: ScrollLogicalPosition): void => {
    change(values);
    focusTicket(ticketBox.current, block);
  };
  return (
    <div class="market">
      <div class="market-top">
        <MarketHead market={market} resolution={resolution} tradersCount={snapshot?.tradersCount} />
        <ChartOfMarket {...{ market, snapshot, resolution }} />
      </div>
      <div class="market-side" ref={ticketBox}>
        {market.status !== "open" ? (
          <StateNotice market={market} resolution={resolution} />
        ) : isAccountAwaited() ? (
          <section class="panel ticket-wait">
            <Loading lines={8} />
          </section>
        ) : exclusion !== null ? (
          <ExcludedNotice until={exclusion.until} />
        ) : (
          <div ref={seeTicket}>
            <Ticket market={market} ticket={ticket} onChange={change} />
          </div>
        )}
        {isSignedIn.value && (
          <OwnPanel
            market={market}
            mayTrade={exclusion === null}
            onSell={({ side, quantity }) => {
              const sale = { orderType: "sell", side } as const;
              const price = bestPriceOf(market, sale);
              const shares = String(quantity);
              takeTo({ ...sale, kind: "limit", price, hasOwnPrice: false, quantity: shares });
            }}
          />
        )}
      </div>
      <div class="market-rest">
        <RulesPanel market={market} resolution={resolution} />
        <div class="panel-pair">
          <section class="panel" aria-labelledby="book-title">
            <h2 id="book-title">Order book</h2>
            {market.status === "open" && exclusion === null && (
              <p class="hint">Choose a price to take it into the ticket.</p>
            )}
            {snapshot === undefined ? (
              <Loading lines={6} />
            ) : (
              <Ladder
                orderBook={snapshot.orderBook}
                onPrice={(price) => {
                  const own = ticket.side === "yes" ? price : 100 - price;
                  takeTo({ kind: "limit", price: String(own) });
                }}
              />
            )}
          </section>
          <section class="panel" aria-labelledby="trades-title">
            <h2 id="trades-title">Latest trades</h2>
            {snapshot === undefined ? (
              <Loading lines={6} />
            ) : (
              <Trades trades={snapshot.recentTrades} />
            )}
          </section>
        </div>
      </div>
      {market.status === "open" && exclusion === null && (
        <SideBar
          market={market}
          isAway={isTicketInView}
          onSide={(side) => {
            takeTo({ orderType: "buy", side }, "start");
          }}
        />
      )}
    </div>
  );
}

type SetTicket = (change: (before: TicketValues) => TicketValues) => void;

/** The ticket of a market. One who cannot trade yet finds it again as it was. */
function useTicket(market: Market): [TicketValues, SetTicket] {
  const [ticket, setTicket] = useState(() => {
    // The page of an event links to a side.
    const side = query.peek().get("side");
    const kept = side === null || isSignedIn.peek() ? keptTicket(market.id) : undefined;
    return kept ?? newTicket(market, side === "no" ? "no" : "yes");
  });
  const first = useRef(ticket);
  useEffect(() => {
    if (ticket === first.current) return;
    const own = account.peek();
    if (isSignedIn.peek() && (own === undefined || mayTrade(own))) forgetTicket();
    else keepTicket(market.id, ticket);
  }, [ticket]);
  return [ticket, setTicket];
}

/** Brings the ticket into the window, with the field of how much. */
function focusTicket(box: HTMLElement | null, block: ScrollLogicalPosition = "nearest"): void {
  box?.scrollIntoView({ block });
  const field = "input[name=quantity], input[name=budget]";
  box?.querySelector<HTMLInputElement>(field)?.focus({ preventScroll: block === "start" });
}

interface ChartOfMarketProps {
  market: Market;
  snapshot: Trading | undefined;
  resolution: MarketResolution | undefined;
}

/** The chart of a resolved market ends where it was resolved. */
function ChartOfMarket({ market, snapshot, resolution }: ChartOfMarketProps): JSX.Element {
  if (market.status === "resolved" && resolution === undefined) {
    return (
      <section class="panel chart-wait">
        <Loading lines={7} />
      </section>
    );
  }
  return (
    <MarketChart
      key={market.id}
      marketId={market.id}
      createdAt={market.createdAt}
      endedAt={resolution?.resolvedAt}
      trades={snapshot?.recentTrades}
    />
  );
}

/** Whether it is not known yet if the user may trade. */
function isAccountAwaited(): boolean {
  return isSignedIn.value && account.value === undefined && accountProblem.value === undefined;
}

/** The snapshot is newer than the market as it was read. */
function withLivePrices(market: Market, snapshot: Trading | undefined): Market {
  if (snapshot === undefined) return market;
  return {
    ...market,
    ...bestPricesOf(snapshot.orderBook),
    lastTradePrice: snapshot.recentTrades[0]?.price ?? market.lastTradePrice,
  };
}

/** What a page says of an outcome, and of what that paid, comes from one answer. */
function withResolution(market: Market, resolution: MarketResolution | undefined): Market {
  if (market.status !== "resolved" || resolution === undefined) return market;
  return { ...market, resolvedOutcome: resolution.outcome };
}

function isEmpty({ orderBook: { yesBids, noBids } }: Trading): boolean {
  return yesBids.length === 0 && noBids.length === 0;
}
