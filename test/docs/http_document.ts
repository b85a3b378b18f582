import type { ExecutionContext } from "ava";
import { parseCurl } from "./curl.ts";
import type { DemoWorld } from "./demo.ts";
import { isUpdating, makeMask } from "./document.ts";
import type { Block, Document } from "./document.ts";

/**
 * Runs the curl commands of a page, and compares each answer with its http block: the status, the
 * headers that the block names, the body laid out. The blocks stand behind the shell block, one
 * for each command. A line `NAME=...` takes the id of the order or of the first thing in a list that
 * was shown last, unless `variables` has the name already. The reader takes their
 * time: a minute passes before each command.
 */
export async function runHttpDocument(
  t: ExecutionContext,
  document: Document,
  { variables, letAMinutePass }: Pick<DemoWorld, "variables" | "letAMinutePass">,
): Promise<void> {
  const mask = makeMask();
  const known = { ...variables };
  let lastId: string | undefined;
  for (const block of document.blocks.filter(({ language }) => language === "sh")) {
    const shown = document.outputsOf(block, "http");
    for (const command of commandsOf(block)) {
      const [, name] = /^(\w+)=/.exec(command) ?? [];
      if (name !== undefined) {
        if (known[name] === undefined && lastId !== undefined) known[name] = lastId;
        continue;
      }
      if (!command.startsWith("curl ")) continue;
      await letAMinutePass();
      const { url, ...request } = parseCurl(command, known);
      const response = await fetch(url, request);
      const isStream = response.headers.get("content-type") === "text/event-stream";
      const frame = isStream ? await firstFrame(response) : undefined;
      const body: any = frame === undefined ? await response.json() : {};
      lastId = body.order?.id ?? body.data?.[0]?.id ?? lastId;

      const example = shown.shift();
      const where = `${document.path}:${block.line}: ${command}`;
      if (!example) throw new Error(`${where}: no http block shows the answer`);
      const answer = mask(
        layOutAnswer(response, headersNamedIn(example), frame ?? layOut(body, "")),
      );
      if (isUpdating) document.replace(example, answer);
      t.is(example.text, answer, where);
    }
    t.is(shown.length, 0, `${document.path}:${block.line}: more answers than commands`);
  }
  if (isUpdating) document.save();
}

function commandsOf({ text }: Block): string[] {
  return text.replaceAll(/\\\n\s*/g, "").split("\n");
}

function headersNamedIn({ text }: Block): string[] {
  const [head = ""] = text.split("\n\n");
  return head
    .split("\n")
    .slice(1)
    .map((line) => line.replace(/:.*/, "").trim())
    .filter((name) => name !== "");
}

/** The first frame of a stream, its data laid out. */
async function firstFrame(response: Response): Promise<string> {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n\n")) break;
  }
  const [frame = ""] = text.split("\n\n");
  return frame.replace(/(?<=^data: ).*/m, (data) => layOut(JSON.parse(data), ""));
}

function layOutAnswer(response: Response, headers: string[], body: string): string {
  return [
    `HTTP/1.1 ${response.status} ${response.statusText}`,
    ...headers.map((name) => `${name}: ${response.headers.get(name) ?? "(none)"}`),
    "",
    body,
  ].join("\n");
}

const LINE_LENGTH = 100;

/** JSON on one line where it fits, else one member a line. */
export function layOut(value: unknown, indent: string): string {
  const short = inLine(value);
  if (indent.length + short.length <= LINE_LENGTH || value === null || typeof value !== "object") {
    return short;
  }
  const deeper = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => layOut(item, deeper))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${layOut(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return [open, members.map((member) => deeper + member).join(",\n"), indent + close].join("\n");
}

function inLine(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inLine).join(", ")}]`;
  const members = Object.entries(value).map(([key, item]) => `"${key}": ${inLine(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
