import type { JSX } from "preact";
import { path, query } from "../../router.ts";

interface TabsProps {
  /** Of what the tabs are parts. */
  label: string;
  tabs: readonly (readonly [name: string, label: string])[];
}

/** The parts of a page, of which the address names one. */
export function Tabs({ label, tabs }: TabsProps): JSX.Element {
  const shown = tabShown(tabs);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, words]) => (
        <a
          key={name}
          href={`${path.value}?show=${name}`}
          aria-current={name === shown ? "true" : undefined}
        >
          {words}
        </a>
      ))}
    </nav>
  );
}

/** The part that the address names; the first one if it names none. */
export function tabShown(tabs: TabsProps["tabs"]): string {
  const named = query.value.get("show");
  const known = tabs.find(([name]) => name === named);
  return known?.[0] ?? tabs[0]?.[0] ?? "";
}
