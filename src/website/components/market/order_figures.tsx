import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { Fact } from "../fact.tsx";
import { mainFigures, moreFigures, restWords, winWords } from "./figures_of.ts";
import type { Figure, PlannedOrder } from "./figures_of.ts";

/** What an order does: first what is won and paid, the other figures folded. */
export function OrderFigures(planned: PlannedOrder): JSX.Element {
  const rest = restWords(planned);
  const win = winWords(planned);
  return (
    <>
      {rest !== undefined && <p>{rest}</p>}
      {win !== undefined && <p class="preview-win">{win}</p>}
      <Figures figures={mainFigures(planned)} />
      <MoreFigures figures={moreFigures(planned)} />
    </>
  );
}

/** Whether the user has opened the other figures: they stay open for the next order. */
const isOpen = signal(false);

function MoreFigures({ figures }: { figures: Figure[] }): JSX.Element | null {
  if (figures.length === 0) return null;
  return (
    <details
      class="more"
      open={isOpen.value}
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>More figures</summary>
      <Figures figures={figures} />
    </details>
  );
}

function Figures({ figures }: { figures: Figure[] }): JSX.Element {
  return (
    <dl class="figures">
      {figures.map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
    </dl>
  );
}
