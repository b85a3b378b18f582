import type { JSX } from "preact";
import { Notice } from "../../components/notice.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import type { Result } from "../../api/result.ts";
import { changes } from "../api/graphql.ts";
import { navigate } from "../../router.ts";
import { askForRow } from "../api/queries.ts";
import { textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { fieldTimeOf, showTime } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { Counted } from "../components/counted.tsx";
import { Facts } from "../components/facts.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { Parts } from "../components/parts_of.tsx";
import { PayoutPreview } from "../components/payout_preview.tsx";
import { ShowFound } from "../components/show_found.tsx";
import { views } from "../views/all.ts";
import { inBook } from "../views/parts.ts";

/** What the forms show besides the columns of the view. */
const FORM_FIELDS = "description rules sourceUrl outcomeName position";

interface Found {
  market: Row;
  /** The void of the whole market, if there is one. */
  undone: Row | undefined;
  /** The market of its exclusive event that a correction to YES takes the YES from. */
  winner: Row | undefined;
}

interface MarketProps extends Found {
  id: string;
}

/** Everything about a market, and what can be done with it. */
export function MarketPage({ id }: { id: string }): JSX.Element {
  const asked = useAsked<Found | undefined>(async () => {
    const ofMarket = { marketId: { equalTo: id } };
    const market = await askForRow(views.markets, ofMarket, FORM_FIELDS);
    if (!market.ok) return market;
    if (market.data === undefined) return { ok: true, data: undefined };
    const undone = await askForRow(views.voids, { ...ofMarket, tradeId: { isNull: true } });
    if (!undone.ok) return undone;
    const winner = await askForWinner(id, market.data);
    if (!winner.ok) return winner;
    return { ok: true, data: { market: market.data, undone: undone.data, winner: winner.data } };
  }, [id, changes.value]);
  return (
    <ShowFound asked={asked} kind="Market">
      {(found) => <Market id={id} {...found} />}
    </ShowFound>
  );
}

async function askForWinner(id: string, market: Row): Promise<Result<Row | undefined>> {
  const none = { ok: true, data: undefined } as const;
  if (market.status !== "resolved" || typeof market.eventId !== "string") return none;
  const eventId = { equalTo: market.eventId };
  const event = await askForRow(views.events, { eventId, isExclusive: { equalTo: true } });
  if (!event.ok || event.data === undefined) return event;
  return await askForRow(views.markets, {
    ...{ eventId, resolvedOutcome: { equalTo: "yes" }, marketId: { notEqualTo: id } },
  });
}

function Market({ id, market, undone, winner }: MarketProps): JSX.Element {
  const ofMarket = { marketId: { equalTo: id } };
  const holds = { ...ofMarket, openQuantity: { notEqualTo: "0" } };
  const without = ["marketId"];
  const parts = [
    { name: "positions", label: "Positions", view: views.positions },
    { name: "orders", label: "Orders", view: views.orders },
    { name: "trades", label: "Trades", view: views.trades },
    { name: "ledger", label: "Ledger", view: views.journals },
    { name: "resolutions", label: "Resolutions", view: views.resolutions },
    { name: "disputes", label: "Disputes", view: views.disputes },
    { name: "settlements", label: "Settlements", view: views.settlements },
    { name: "conversions", label: "Splits, merges, conversions", view: views.conversions },
    { name: "voids", label: "Undone", view: views.voids },
    { name: "fees", label: "Fees", view: views.feeSchedules },
    { name: "audit", label: "Audit", view: views.auditEntries },
  ].map((part) => ({ ...part, where: ofMarket, without }));
  const description = textIn(market, "description");
  return (
    <StaffPageBody title={textIn(market, "title")}>
      {undone !== undefined && (
        <Notice kind="warn">
          Undone on {showTime(textIn(undone, "createdAt"))}: {textIn(undone, "reason")}. Everybody
          got back what they had put in; its outcome means nothing.
        </Notice>
      )}
      <Section title="Market">
        <Facts columns={views.markets.columns} row={market} />
        {description !== "" && <p class="prose">{description}</p>}
        <p class="code">{id}</p>
        <p>
          <a href={`/markets/${id}`}>See it as traders do</a>
        </p>
      </Section>
      <div class="counts">
        <Counted
          label="positions with shares"
          view={views.positions}
          where={holds}
          href={`/operator/markets/${id}?show=positions&held=yes`}
        />
        <Counted
          label="orders in the book"
          view={views.orders}
          where={{ ...ofMarket, ...inBook }}
          href={`/operator/markets/${id}?show=orders&status=open,partially_filled`}
        />
      </div>
      {undone === undefined && (
        <Section title="What an outcome would pay">
          {winner !== undefined && (
            <Notice kind="info">
              The YES of this event has{" "}
              <a href={`/operator/markets/${textIn(winner, "marketId")}`}>
                {textIn(winner, "title")}
              </a>
              . If this market is corrected to YES, that one becomes NO in the same call.
            </Notice>
          )}
          {/* What was previewed is no news after a command. */}
          <PayoutPreview key={changes.value} market={market} winner={winner} />
        </Section>
      )}
      <MarketForms {...{ id, market, undone, winner }} />
      <Parts label="About this market" parts={parts} />
    </StaffPageBody>
  );
}

function MarketForms({ id, market, undone }: MarketProps): JSX.Element {
  const of = { given: { marketId: id }, about: textIn(market, "title") };
  const isResolved = market.status === "resolved";
  const initial = {
    title: textIn(market, "title"),
    description: textIn(market, "description"),
    closeTime: fieldTimeOf(textIn(market, "closeTime")),
    openTime: fieldTimeOf(textIn(market, "openTime")),
    outcomeName: textIn(market, "outcomeName"),
    position: typeof market.position === "number" ? String(market.position) : "",
  };
  const source = { rules: textIn(market, "rules"), sourceUrl: textIn(market, "sourceUrl") };
  return (
    <div class="commands">
      {isResolved ? (
        undone === undefined && <CommandForm command={commands.correctResolution} {...of} />
      ) : (
        <>
          <CommandForm
            command={commands.resolveMarket}
            {...of}
            initial={{ outcome: textIn(market, "proposedOutcome") }}
          />
          <CommandForm command={commands.setMarketStatus} {...of} />
          <CommandForm command={commands.editMarket} {...of} initial={initial} />
          <CommandForm command={commands.setMarketSource} {...of} initial={source} />
          <CommandForm command={commands.voidTrade} />
        </>
      )}
      <CommandForm
        command={commands.copyMarket}
        {...of}
        initial={{ title: initial.title }}
        onDone={(copyId) => {
          navigate(`/operator/markets/${String(copyId)}`);
        }}
      />
      {undone === undefined && <CommandForm command={commands.voidMarket} {...of} />}
      {!isResolved && (
        <CommandForm
          command={commands.setFeeSchedule}
          {...of}
          // A fee is that of a market or of a category: the form does not ask for the latter.
          given={{ ...of.given, category: undefined }}
        />
      )}
    </div>
  );
}
