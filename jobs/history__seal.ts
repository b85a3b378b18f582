import type { Job } from "../src/worker/job.ts";

/** What one call seals at most of a table: after as many rows there may be more. */
const MOST_ROWS = 10_000;

/** Seals what is new in history. The log keeps the head of each block. */
export const sealHistory: Job["run"] = async ({ calls, logger, isEnding }) => {
  let rows = MOST_ROWS;
  while (rows >= MOST_ROWS && !isEnding()) {
    const { rowCount, block, hash } = await calls.sealHistory();
    if (rowCount > 0) logger.info({ block, hash, rowCount }, "history is sealed");
    rows = rowCount;
  }
};
