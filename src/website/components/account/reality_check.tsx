import type { JSX } from "preact";
import type { OwnProfile } from "../../api/types.ts";
import { Lazy } from "../lazy.tsx";
import { Section } from "./section.tsx";

const loadForm = async () => (await import("./reality_check_form.tsx")).RealityCheckForm;

/** How often a user is reminded of the time on the website. */
export function RealityCheckSection({ own }: { own: OwnProfile }): JSX.Element {
  return (
    <Section id="reality-check" title="Reality check">
      <Lazy load={loadForm} props={{ own }} />
    </Section>
  );
}
