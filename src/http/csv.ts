import type { Request, Response } from "express";
import { csvField } from "../csv_field.ts";
import { sendText } from "./respond.ts";

/** Lists as CSV, for spreadsheets, where a request prefers it to JSON. */

/** Whether the request prefers CSV. */
export function prefersCsv(request: Request): boolean {
  return request.accepts(["application/json", "text/csv"]) === "text/csv";
}

type Row = Record<string, string | number | null>;

/** Answers with a page of a list. Its `Link` header leads to the next page. */
export function sendCsv(
  response: Response,
  { name, columns, rows, next }: { name: string; columns: string[]; rows: Row[]; next?: string },
): void {
  response.setHeader("Content-Disposition", `attachment; filename="${name}.csv"`);
  if (next !== undefined) response.setHeader("Link", `<${next}>; rel="next"`);
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))];
  const text = lines.map((line) => `${line.map(fieldOf).join(",")}\r\n`).join("");
  sendText(response, 200, text, "text/csv; charset=utf-8");
}

function fieldOf(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  return csvField(value);
}
