import type { JSX } from "preact";
import { Empty, Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { changes } from "../api/graphql.ts";
import { navigate } from "../../router.ts";
import { askForRow } from "../api/queries.ts";
import { textIn } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import { fieldTimeOf } from "../api/values.ts";
import { commands } from "../commands/all.ts";
import { CommandForm } from "../components/command_form.tsx";
import { Counted } from "../components/counted.tsx";
import { Facts } from "../components/facts.tsx";
import { Section, StaffPageBody } from "../components/page.tsx";
import { Parts } from "../components/parts_of.tsx";
import { PayoutPreview } from "../components/payout_preview.tsx";
import { views } from "../views/all.ts";

/** What the forms show besides the columns of the view. */
const FORM_FIELDS = "description rules sourceUrl outcomeName position";

/** Everything about a market, and what can be done with it. */
export function MarketPage({ id }: { id: string }): JSX.Element {
  const asked = useAsked(
    () => askForRow(views.markets, { marketId: { equalTo: id } }, FORM_FIELDS),
    [id, changes.value],
  );
  return (
    <Show asked={asked} title="Market">
      {(market) =>
        market === undefined ? (
          <Empty title="There is no such market." />
        ) : (
          <Market id={id} market={market} />
        )
      }
    </Show>
  );
}

function Market({ id, market }: { id: string; market: Row }): JSX.Element {
  const ofMarket = { marketId: { equalTo: id } };
  const holds = { ...ofMarket, openQuantity: { notEqualTo: "0" } };
  const inBook = { ...ofMarket, status: { in: ["open", "partially_filled"] } };
  const without = ["marketId"];
  const parts = [
    { name: "positions", label: "Positions", view: views.positions },
    { name: "orders", label: "Orders", view: views.orders },
    { name: "trades", label: "Trades", view: views.trades },
    { name: "ledger", label: "Ledger", view: views.journals },
    { name: "resolutions", label: "Resolutions", view: views.resolutions },
    { name: "disputes", label: "Disputes", view: views.disputes },
    { name: "settlements", label: "Settlements", view: views.settlements },
    { name: "conversions", label: "Splits and merges", view: views.conversions },
    { name: "voids", label: "Undone", view: views.voids },
    { name: "fees", label: "Fees", view: views.feeSchedules },
    { name: "audit", label: "Audit", view: views.auditEntries },
  ].map((part) => ({ ...part, where: ofMarket, without }));
  const description = textIn(market, "description");
  return (
    <StaffPageBody title={textIn(market, "title")}>
      <Section title="Market">
        <Facts columns={views.markets.columns} row={market} />
        {description !== "" && <p>{description}</p>}
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
          where={inBook}
          href={`/operator/markets/${id}?show=orders&status=open,partially_filled`}
        />
      </div>
      <Section title="What an outcome would pay">
        <PayoutPreview marketId={id} />
      </Section>
      <MarketForms id={id} market={market} />
      <Parts label="About this market" parts={parts} />
    </StaffPageBody>
  );
}

function MarketForms({ id, market }: { id: string; market: Row }): JSX.Element {
  const given = { marketId: id };
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
        <CommandForm command={commands.correctResolution} given={given} />
      ) : (
        <>
          <CommandForm
            command={commands.resolveMarket}
            given={given}
            initial={{ outcome: textIn(market, "proposedOutcome") }}
          />
          <CommandForm command={commands.setMarketStatus} given={given} />
        </>
      )}
      <CommandForm command={commands.editMarket} given={given} initial={initial} />
      {!isResolved && (
        <CommandForm command={commands.setMarketSource} given={given} initial={source} />
      )}
      <CommandForm
        command={commands.copyMarket}
        given={given}
        initial={{ title: initial.title }}
        onDone={(copyId) => {
          navigate(`/operator/markets/${String(copyId)}`);
        }}
      />
      <CommandForm command={commands.voidTrade} />
      <CommandForm command={commands.voidMarket} given={given} />
      <CommandForm command={commands.setFeeSchedule} given={given} />
    </div>
  );
}
