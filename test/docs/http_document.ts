import type { ExecutionContext } from "ava";
import { parseCurl } from "./curl.ts";
import type { DemoWorld } from "./demo.ts";
import { isUpdating, makeMask } from "./document.ts";
import type { Block, Document } from "./document.ts";

/**
 * Runs the curl commands of a page, and compares the answers with the http block behind them: each
 * with its status, the headers that the block names for it, and the body laid out. `...` in a body
 * stands for all that is not shown of an object or a list. A line `NAME=...` takes the id of the order or of the first thing in a list that
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
    const [shown] = document.outputsOf(block, "http");
    const examples = shown?.text.split(/\n\n(?=HTTP\/1\.1 )/) ?? [];
    const answers: string[] = [];
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
      const example = examples[answers.length];
      const frame = isStream ? await firstFrame(response, example) : undefined;
      const body: any = frame === undefined ? await response.json() : {};
      lastId = body.order?.id ?? body.data?.[0]?.id ?? lastId;

      const where = `${document.path}:${block.line}: ${command}`;
      if (example === undefined && !isUpdating)
        throw new Error(`${where}: no http block shows the answer`);
      const answer = mask(
        layOutAnswer(
          response,
          headersNamedIn(example ?? ""),
          frame ?? layOut(shownOf(body, bodyIn(example)), ""),
        ),
      );
      answers.push(answer);
      t.is(isUpdating ? answer : example, answer, where);
    }
    if (isUpdating && shown) document.replace(shown, answers.join("\n\n"));
    t.is(
      isUpdating ? answers.length : examples.length,
      answers.length,
      `${document.path}:${block.line}: an answer too many`,
    );
  }
  if (isUpdating) document.save();
}

function commandsOf({ text }: Block): string[] {
  return text.replaceAll(/\\\n\s*/g, "").split("\n");
}

function headersNamedIn(example: string): string[] {
  const [head = ""] = example.split("\n\n");
  return head
    .split("\n")
    .slice(1)
    .map((line) => line.replace(/:.*/, "").trim())
    .filter((name) => name !== "");
}

const OMITTED = "...";

/** The body that an example shows, if it has one. */
function bodyIn(example = ""): unknown {
  const text = example
    .replace(/^[^{]*/, "")
    .replaceAll(/(?<=[\s{])\.\.\.(?=\s*\})/g, `"${OMITTED}": 0`)
    .replaceAll(/(?<=[\s[])\.\.\.(?=\s*\])/g, `"${OMITTED}"`);
  return text === "" ? undefined : JSON.parse(text);
}

/** What an example with omissions shows of a body. */
export function shownOf(body: any, example: any): unknown {
  if (body === null || typeof body !== "object" || typeof example !== "object") return body;
  if (Array.isArray(body)) {
    const isCut = example.at(-1) === OMITTED;
    const most = isCut ? example.length - 1 : body.length;
    const items = body.slice(0, most).map((item, index) => shownOf(item, example[index]));
    return isCut ? [...items, OMITTED] : items;
  }
  const isCut = OMITTED in (example ?? {});
  const members = Object.entries(body)
    .filter(([key]) => !isCut || key in example)
    .map(([key, value]) => [key, shownOf(value, example?.[key])]);
  return Object.fromEntries(isCut ? [...members, [OMITTED, 0]] : members);
}

/** The first frame of a stream, its data laid out. */
async function firstFrame(response: Response, example?: string): Promise<string> {
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n\n")) break;
  }
  const [frame = ""] = text.split("\n\n");
  const shown = bodyIn(example);
  return frame.replace(/(?<=^data: ).*/m, (data) => layOut(shownOf(JSON.parse(data), shown), ""));
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

/** JSON on one line where it fits; else short members share lines, and a long one has its own. */
export function layOut(value: unknown, indent: string): string {
  const short = inLine(value);
  if (indent.length + short.length <= LINE_LENGTH || value === null || typeof value !== "object") {
    return short;
  }
  const deeper = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => layOut(item, deeper))
    : Object.entries(value).map(([key, item]) => member(key, layOut(item, deeper)));
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return [open, ...fill(members, deeper), indent + close].join("\n");
}

function fill(members: string[], indent: string): string[] {
  const lines: string[] = [];
  members.forEach((member, index) => {
    const text = index < members.length - 1 ? `${member},` : member;
    const last = lines.at(-1);
    const together = `${last} ${text}`;
    const mayShare = last !== undefined && !(last + text).includes("\n");
    if (mayShare && together.length <= LINE_LENGTH) lines[lines.length - 1] = together;
    else lines.push(indent + text);
  });
  return lines;
}

function inLine(value: unknown): string {
  if (value === OMITTED) return value;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(inLine).join(", ")}]`;
  const members = Object.entries(value).map(([key, item]) => member(key, inLine(item)));
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

const member = (key: string, value: string): string =>
  key === OMITTED ? OMITTED : `${JSON.stringify(key)}: ${value}`;
