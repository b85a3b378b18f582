import type { Config } from "../src/config.ts";
import { requestTimeStamp } from "../src/proofs/time_stamp.ts";
import type { Job, JobContext } from "../src/worker/job.ts";

type Places = Pick<Config, "proofWebhookUrl" | "timeStampUrl">;

/** For a service that does not answer. */
const TIMEOUT_MS = 20_000;

/**
 * The job that gives the head of history to others, who can then show that history before it was
 * changed; none without a place to give it to. The same head may be given twice. One that could not
 * be given is left to the next run, which has a newer one.
 */
export function publishHistory(places: Places): Job[] {
  if (places.proofWebhookUrl === undefined && places.timeStampUrl === undefined) return [];
  return [
    {
      name: "history__publish",
      cron: "*/5 * * * *",
      run: (context) => publish(places, context),
    },
  ];
}

async function publish(
  { proofWebhookUrl, timeStampUrl }: Places,
  { calls, logger }: JobContext,
): Promise<void> {
  // The body of `GET /api/v1/proofs/head`.
  const head = JSON.parse(await calls.historyHead()) as { block: number | null; hash: string };
  const { block, hash } = head;
  if (block === null) return;
  let timeStamp: string | undefined;
  if (timeStampUrl !== undefined) {
    try {
      const answer = await requestTimeStamp(timeStampUrl, Buffer.from(hash, "hex"), timeout());
      timeStamp = answer.toString("base64");
      logger.info({ block, hash, timeStamp }, "history is stamped with the time");
    } catch (error) {
      logger.warn({ error, block }, "history was not stamped with the time");
    }
  }
  if (proofWebhookUrl === undefined) return;
  try {
    await post(proofWebhookUrl, JSON.stringify({ ...head, timeStamp }));
  } catch (error) {
    logger.warn({ error, block }, "the head of history was not given to the webhook");
  }
}

async function post(url: string, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const request = { method: "POST", headers, body, redirect: "error", signal: timeout() } as const;
  const response = await fetch(url, request);
  await response.body?.cancel();
  if (!response.ok) throw new Error(`it answered ${response.status}`);
}

function timeout(): AbortSignal {
  return AbortSignal.timeout(TIMEOUT_MS);
}
