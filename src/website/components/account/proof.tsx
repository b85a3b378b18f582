import type { JSX } from "preact";
import type { OwnProfile } from "../../api/types.ts";
import { OwnProofOutcome } from "./own_proof.tsx";
import { Section } from "./section.tsx";

/** Whether the user's cash is in the published total. */
export function ProofSection({ own }: { own: OwnProfile }): JSX.Element {
  return (
    <Section id="proof" title="Proof of balances">
      <p class="hint">
        Each day the exchange publishes one number, made of the cash of all users. This page
        computes from yours whether it is in there. <a href="/proof">What everybody sees of it</a>
      </p>
      <OwnProofOutcome userId={own.id} />
    </Section>
  );
}
