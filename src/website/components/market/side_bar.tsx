import type { JSX } from "preact";
import type { Market, Side } from "../../api/types.ts";
import { formatPrice } from "../../format.ts";
import { bestPriceOf } from "./best_price.ts";

interface SideBarProps {
  market: Market;
  /** Whether the ticket, which has both sides too, is in view. */
  isAway: boolean;
  onSide: (side: Side) => void;
}

/** On phones, at the bottom of the window: both sides with their prices. They lead to the ticket. */
export function SideBar({ market, isAway, onSide }: SideBarProps): JSX.Element {
  return (
    <div
      class={isAway ? "side-bar side-bar-away" : "side-bar"}
      role="group"
      aria-label="Choose a side"
    >
      {(["yes", "no"] as const).map((side) => {
        const price = bestPriceOf(market, { orderType: "buy", side });
        return (
          <button
            key={side}
            type="button"
            class={`button button-${side}`}
            onClick={() => {
              onSide(side);
            }}
          >
            {side === "yes" ? "Yes" : "No"} {formatPrice(price === "" ? null : Number(price))}
          </button>
        );
      })}
    </div>
  );
}
