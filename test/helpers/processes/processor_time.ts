import { readFile } from "node:fs/promises";

/** The processor time of a process and of its children that have ended, in steps of 10 ms. */
export async function processorMs(processId: number): Promise<number> {
  const text = await readFile(`/proc/${processId}/stat`, "utf8");
  // The name of the process, in brackets, may have spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * 10;
}
