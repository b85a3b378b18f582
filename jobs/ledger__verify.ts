import { verifyLedger } from "../src/database/jobs.ts";
import type { Job } from "../src/worker/job.ts";

/** Proves the ledger, and keeps what came of it where monitors look. */
export const ledgerVerify: Job = {
  name: "ledger__verify",
  run: async ({ call, logger }) => {
    const brokenCount = await call(verifyLedger);
    if (brokenCount === 0) logger.info("the ledger is sound");
    else logger.error({ brokenCount }, "the ledger is broken: see ledger.verifications");
  },
};
