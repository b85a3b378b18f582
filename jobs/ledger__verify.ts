import type { Job } from "../src/worker/job.ts";

/** Verifies the ledger. The results are in ledger.verifications, and in metrics. */
export const verifyLedger: Job["run"] = async ({ calls, logger }) => {
  const brokenCount = await calls.verifyLedger();
  if (brokenCount === 0) logger.info("the ledger is sound");
  else logger.error({ brokenCount }, "the ledger is broken: see ledger.verifications");
};
