import type { Turn } from "../database/failures.ts";
import { startTimer } from "../later.ts";
import type { Later } from "../later.ts";

export interface SharedAnswersOptions<Answer> {
  /** How long an answer is given again. */
  keptMs?: number;
  /** Of all answers that are kept. */
  mostBytes?: number;
  bytesOf: (answer: Answer) => number;
  later?: Later;
}

/** Identical public reads share one answer. */
export interface SharedAnswers<Answer> {
  /**
   * The answer of this key: the one that is kept, or of the call that is under way, or of a new call
   * that gets a turn. A call that waits for its turn is not shared: it would wait behind the other
   * calls of its client.
   */
  ask: (key: string, call: () => Promise<Answer>, turn: Turn) => Promise<Answer>;
}

const DEFAULT_KEPT_MS = 1000;
const DEFAULT_MOST_BYTES = 16_000_000;

export function createSharedAnswers<Answer>({
  keptMs = DEFAULT_KEPT_MS,
  mostBytes = DEFAULT_MOST_BYTES,
  bytesOf,
  later = startTimer,
}: SharedAnswersOptions<Answer>): SharedAnswers<Answer> {
  /** Of calls that are under way, and answers that are kept. */
  const answers = new Map<string, Promise<Answer>>();
  let keptBytes = 0;

  async function begin(key: string, call: () => Promise<Answer>): Promise<Answer> {
    const answer = call();
    answers.set(key, answer);
    const bytes = await answer.then(bytesOf, () => Infinity);
    if (keptMs === 0 || keptBytes + bytes > mostBytes) {
      answers.delete(key);
    } else {
      keptBytes += bytes;
      later(() => {
        keptBytes -= bytes;
        answers.delete(key);
      }, keptMs);
    }
    return await answer;
  }

  return {
    ask: async (key, call, turn) =>
      await (answers.get(key) ?? turn(() => answers.get(key) ?? begin(key, call))),
  };
}
