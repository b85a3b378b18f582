import { giveUp } from "./matching.ts";
import { Refused, holding, openCost, passGates, passesLimit, pay } from "./state.ts";
import type { ModelOutcome, State } from "./state.ts";
import type { Step } from "./programs.ts";

/** Complete sets in the plain rules of rules.ts. */

export function split(
  state: State,
  { trader: index, market, quantity }: Extract<Step, { kind: "split" }>,
): ModelOutcome {
  if (quantity < 1) throw new Refused("INVALID_REQUEST");
  const trader = state.traders[index]!;
  passGates(state, index);
  if (state.markets[market]!.status !== "open") throw new Refused("MARKET_NOT_OPEN");
  const cents = 100 * quantity;
  if (cents > trader.cents) throw new Refused("INSUFFICIENT_BALANCE");
  if (passesLimit(state, trader, openCost(state, index, null) + cents)) {
    throw new Refused("LOSS_LIMIT");
  }
  pay(state, index, -cents);
  for (const side of ["yes", "no"] as const) {
    const held = holding(state, market, index, side);
    held.quantity += quantity;
    held.cost += 50 * quantity;
  }
  return { code: null, replayed: false, cents: trader.cents };
}

export function merge(
  state: State,
  { trader: index, market, quantity }: Extract<Step, { kind: "merge" }>,
): ModelOutcome {
  if (quantity < 1) throw new Refused("INVALID_REQUEST");
  if (state.markets[market]!.status === "resolved") throw new Refused("MARKET_NOT_OPEN");
  const legs = (["yes", "no"] as const).map((side) => holding(state, market, index, side));
  if (legs.some((held) => held.quantity < quantity)) throw new Refused("INSUFFICIENT_BALANCE");
  for (const held of legs) giveUp(held, quantity, 50 * quantity);
  pay(state, index, 100 * quantity);
  return { code: null, replayed: false, cents: state.traders[index]!.cents };
}
