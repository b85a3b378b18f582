import type { Job } from "../src/worker/job.ts";

/** Checks the ledger. The result is kept where monitors look. */
export const verifyLedger: Job["run"] = async ({ calls, logger }) => {
  const brokenCount = await calls.verifyLedger();
  if (brokenCount === 0) logger.info("the ledger is sound");
  else logger.error({ brokenCount }, "the ledger is broken: see ledger.verifications");
};
