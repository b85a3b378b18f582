import type { JSX } from "preact";
import { formatVolume } from "../../format.ts";

type Texts = Record<"day" | "week" | "month", string>;

/** In euros. */
const suggestions = [
  { label: "Low", euros: [20, 50, 100] },
  { label: "Medium", euros: [50, 150, 400] },
  { label: "High", euros: [200, 600, 1500] },
] as const;

interface LimitSuggestionsProps {
  chosen: Texts;
  onChoose: (texts: Texts) => void;
}

/** Fills in all three limits at once. */
export function LimitSuggestions({ chosen, onChoose }: LimitSuggestionsProps): JSX.Element {
  const all = [
    ...suggestions.map(({ label, euros: [day, week, month] }) => ({
      label,
      figures: [day, week, month].map((euros) => formatVolume(euros * 100)).join(" · "),
      texts: { day: textOf(day), week: textOf(week), month: textOf(month) },
    })),
    { label: "No limits", figures: "", texts: { day: "", week: "", month: "" } },
  ];
  return (
    <div class="suggestions" role="group" aria-label="Suggestions">
      {all.map(({ label, figures, texts }) => (
        <button
          key={label}
          type="button"
          class="button"
          aria-pressed={areSame(texts, chosen)}
          onClick={() => {
            onChoose(texts);
          }}
        >
          {label}
          {figures !== "" && <span class="second-line hint">{figures}</span>}
        </button>
      ))}
    </div>
  );
}

function textOf(euros: number): string {
  return euros.toFixed(2);
}

function areSame(one: Texts, other: Texts): boolean {
  return one.day === other.day && one.week === other.week && one.month === other.month;
}
