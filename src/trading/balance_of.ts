import type { Services } from "../services.ts";

/** The balance once a batch is done, as JSON text; null when it can't be read. */
export async function balanceOf(
  { commands, logger }: Pick<Services, "commands" | "logger">,
  userId: string,
): Promise<string> {
  try {
    const account = await commands.getAccount({ userId });
    const { balance } = JSON.parse(account) as { balance: number };
    return JSON.stringify({ total: balance, available: balance });
  } catch (error) {
    logger.warn({ error }, "the balance after a batch could not be read");
    return "null";
  }
}
