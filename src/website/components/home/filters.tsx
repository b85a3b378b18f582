import type { JSX } from "preact";
import { Choice } from "../choice.tsx";
import { sorts, statuses } from "./search.ts";
import type { Sort, Status } from "./search.ts";

interface FiltersProps {
  search: { sort: Sort; status: Status };
  onChange: (change: { sort: Sort } | { status: Status }) => void;
}

/** How a list is ordered, and whether it has what is open or what is closed. */
export function Filters({ search, onChange }: FiltersProps): JSX.Element {
  return (
    <div class="filters">
      <Choice
        label="Sort by"
        value={search.sort}
        options={sorts}
        onChange={(sort) => {
          onChange({ sort });
        }}
      />
      <Choice
        label="Status"
        value={search.status}
        options={statuses}
        onChange={(status) => {
          onChange({ status });
        }}
      />
    </div>
  );
}
