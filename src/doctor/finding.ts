/** What the doctor says about a deployment. */

/**
 * now: money, orders or the service are in danger; soon: nothing is broken yet, or something is
 * missing that a deployment with money needs; note: worth knowing.
 */
const urgencies = ["now", "soon", "note"] as const;
type Urgency = (typeof urgencies)[number];

export interface Finding {
  urgency: Urgency;
  /** What it is about, in a word. */
  about: string;
  /** What was seen. */
  problem: string;
  /** What to do. */
  remedy: string;
}

const ofUrgency =
  (urgency: Urgency) =>
  (about: string, problem: string, remedy: string): Finding => ({
    ...{ urgency, about, problem, remedy },
  });

export const now = ofUrgency("now");
export const soon = ofUrgency("soon");
export const note = ofUrgency("note");

/** Those findings that are so. */
export function those(...findings: (Finding | false)[]): Finding[] {
  return findings.filter((finding) => finding !== false);
}

/** The most urgent first; those of one urgency stay in their order. */
export function inOrder(findings: Finding[]): Finding[] {
  const rank = ({ urgency }: Finding): number => urgencies.indexOf(urgency);
  return findings.toSorted((one, other) => rank(one) - rank(other));
}
