import { timeNow } from "../api/server_time.ts";

/** "starts" or "started", "Ends" or "Ended": a verb by whether its time has come. */
export function timeWord(verb: "start" | "Start" | "end" | "End", time: string): string {
  return Date.parse(time) > timeNow() ? `${verb}s` : `${verb}ed`;
}
