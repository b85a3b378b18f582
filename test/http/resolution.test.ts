import test from "ava";
import { testClock } from "../helpers/database/test_clock.ts";
import { testService } from "../helpers/http/test_service.ts";

/** GET /markets/:id/resolution: what it rests on, and what became of it. */

const service = testService(test);
const { call, makeMarket, operate } = service;

const start = Date.UTC(2027, 0, 10, 12);
const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(start + hours * HOUR_MS).toISOString();

async function resolutionOf(marketId: string): Promise<any> {
  const { status, body } = await call("GET", `/api/v1/markets/${marketId}/resolution`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

test.serial("200: evidence, source and history of a market, from its resolution on", async (t) => {
  const clock = testClock(service.database.pool);
  await clock.freeze(new Date(start));
  try {
    const market_id = await makeMarket();
    const source_url = "https://office.example/";
    await operate("set_market_source", { market_id, rules: "As it says.", source_url });
    t.like((await call("GET", `/api/v1/markets/${market_id}/rules`)).body, {
      resolutionRules: "As it says.",
      sourceUrl: source_url,
    });
    t.is((await call("GET", `/api/v1/markets/${market_id}/resolution`)).status, 404);

    await operate("resolve_market", { market_id, outcome: "yes", evidence: "It says yes." });
    const first = {
      ...{ at: at(0), kind: "resolved", outcome: "yes", yesPayoutCents: 100 },
      ...{ reason: null, evidence: "It says yes." },
    };
    t.deepEqual(await resolutionOf(market_id), {
      ...{ outcome: "yes", yesPayoutCents: 100, noPayoutCents: 0, resolvedAt: at(0) },
      ...{ correctedAt: null, voidedAt: null, evidence: "It says yes.", sourceUrl: source_url },
      ...{ disputeUntil: at(72), history: [first] },
    });

    await clock.advance(HOUR_MS);
    const correction = { market_id, outcome: "custom", yes_payout_cents: 30, reason: "Half." };
    await operate("correct_resolution", correction);
    const second = {
      ...{ at: at(1), kind: "corrected", outcome: "custom", yesPayoutCents: 30 },
      ...{ reason: "Half.", evidence: null },
    };
    t.like(await resolutionOf(market_id), {
      ...{ outcome: "custom", resolvedAt: at(0), correctedAt: at(1), evidence: null },
      ...{ disputeUntil: at(73), history: [first, second] },
    });

    await clock.advance(HOUR_MS);
    await operate("correct_resolution", {
      ...{ market_id, outcome: "no", reason: "It says no.", evidence: "It says so now." },
    });
    await clock.advance(HOUR_MS);
    await operate("void_market", { market_id, reason: "Never asked." });
    const voided = await resolutionOf(market_id);
    t.like(voided, {
      ...{ outcome: "custom", yesPayoutCents: 50, resolvedAt: at(0), correctedAt: at(2) },
      ...{ voidedAt: at(3), disputeUntil: null },
    });
    t.deepEqual(voided.history.slice(0, 2), [first, second]);
    t.deepEqual(voided.history.slice(2), [
      {
        ...{ at: at(2), kind: "corrected", outcome: "no", yesPayoutCents: 0 },
        ...{ reason: "It says no.", evidence: "It says so now." },
      },
      {
        ...{ at: at(3), kind: "voided", outcome: "custom", yesPayoutCents: 50 },
        ...{ reason: "Never asked.", evidence: null },
      },
    ]);
  } finally {
    await clock.release();
  }
});

test.serial("200: a market that was voided without a resolution", async (t) => {
  const market_id = await makeMarket();
  await operate("void_market", { market_id, reason: "Never asked." });
  const { history, ...rest } = await resolutionOf(market_id);
  t.like(rest, { correctedAt: null, evidence: null, sourceUrl: null, disputeUntil: null });
  t.like(history, { 0: { at: rest.voidedAt, kind: "voided", reason: "Never asked." }, length: 1 });
});
