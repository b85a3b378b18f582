import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readText, rootDirectory } from "../helpers/repository.ts";

/** A fenced block of a page: ```language info */
export interface Block {
  language: string;
  /** What follows the language; readers don't see it. */
  info: string;
  text: string;
  /** The line of the page at which the fence opens, from 1. */
  line: number;
  /** The heading that it stands under. */
  heading: string;
  /** Whether nothing but blank lines stands between this block and the one before. */
  followsBlock: boolean;
}

/** A page of the documentation, whose examples are run. */
export interface Document {
  path: string;
  blocks: Block[];
  /** The blocks that show what this one gives: those right behind it, of one language. */
  outputsOf: (block: Block, language: string) => Block[];
  /** Puts another text into a block; written by `save`. */
  replace: (block: Block, text: string) => void;
  save: () => void;
}

/** Whether outputs are to be written into the pages instead of compared: UPDATE_DOCS=1. */
export const isUpdating = process.env.UPDATE_DOCS === "1";

const FENCE = /^```(\S*)[ \t]*(.*)$/;
const HEADING = /^#+ (.+)$/;

/** Reads a page by its path from the root. */
export function readDocument(path: string): Document {
  const parts = parseParts(readText(path));
  const blocks = parts.filter((part) => typeof part !== "string");
  return {
    path,
    blocks,
    outputsOf: (block, language) => {
      const rest = blocks.slice(blocks.indexOf(block) + 1);
      const end = rest.findIndex((next) => !next.followsBlock || next.language !== language);
      return end < 0 ? rest : rest.slice(0, end);
    },
    replace: (block, text) => {
      block.text = text;
    },
    save: () => {
      writeFileSync(join(rootDirectory, path), parts.map(partText).join("\n"));
    },
  };
}

/** The lines between blocks as they are, and the blocks. */
function parseParts(text: string): (string | Block)[] {
  const parts: (string | Block)[] = [];
  let prose: string[] = [];
  let heading = "";
  let open: { block: Block; lines: string[] } | undefined;
  text.split("\n").forEach((line, index) => {
    const [isFence, language = "", info = ""] = FENCE.exec(line) ?? [];
    if (isFence === undefined) {
      (open?.lines ?? prose).push(line);
      if (!open) heading = HEADING.exec(line)?.[1] ?? heading;
    } else if (open) {
      open.block.text = open.lines.join("\n");
      parts.push(open.block);
      open = undefined;
    } else {
      const followsBlock = parts.length > 0 && prose.every((between) => between.trim() === "");
      if (prose.length > 0) parts.push(prose.join("\n"));
      prose = [];
      const block = {
        language,
        info: info.trim(),
        text: "",
        line: index + 1,
        heading,
        followsBlock,
      };
      open = { block, lines: [] };
    }
  });
  if (open) throw new Error(`The fence of line ${open.block.line} is not closed`);
  if (prose.length > 0) parts.push(prose.join("\n"));
  return parts;
}

function partText(part: string | Block): string {
  if (typeof part === "string") return part;
  const fence = "```" + [part.language, part.info].filter((word) => word !== "").join(" ");
  return [fence, ...(part.text === "" ? [] : [part.text]), "```"].join("\n");
}

/**
 * What differs from run to run, made the same: ids are numbered in the order in which a page first
 * shows them, all times are one, and so are process ids and the places where user streams begin. Their length stays, so tables stay in line.
 */
export function makeMask(): (text: string) => string {
  const numbers = new Map<string, number>();
  const numberOf = (id: string): string => {
    const number = numbers.get(id) ?? numbers.size + 1;
    numbers.set(id, number);
    return `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
  };
  return (text) =>
    text
      .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, numberOf)
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2027-01-15T12:00:00.000Z")
      .replaceAll(/\bPID \d+/g, "PID 4242")
      .replaceAll(/^id: \d+\n(?=data: \{ "type": "connected")/gm, "id: 4242\n");
}
