import type { Job } from "../src/worker/job.ts";

/** Publishes a proof of balances. The log keeps its root. */
export const publishProof: Job["run"] = async ({ calls, logger }) => {
  const { root, totalCents } = await calls.publishProof();
  logger.info({ root, totalCents }, "a proof of balances is published");
};
