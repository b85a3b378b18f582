/** A frame of an event stream. One without data only says how far the stream has come. */
export interface Frame {
  id: string | undefined;
  data: string | undefined;
}

/**
 * Reads Server-Sent Events from chunks that may be cut anywhere, also within a character or between
 * CR and LF. Returns the frames that a chunk completes. What follows the last blank line is no frame:
 * the connection may have broken within it.
 */
export function makeFrameParser(): (chunk: Uint8Array) => Frame[] {
  const decoder = new TextDecoder();
  let rest = "";
  let endedInCr = false;
  let id: string | undefined;
  let data: string[] = [];

  function takeLine(line: string): Frame | undefined {
    if (line === "") {
      const frame = { id, data: data.length === 0 ? undefined : data.join("\n") };
      id = undefined;
      data = [];
      return frame.id === undefined && frame.data === undefined ? undefined : frame;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) id = value;
    return undefined;
  }

  return (chunk) => {
    let text = decoder.decode(chunk, { stream: true });
    if (text === "") return [];
    if (endedInCr && text.startsWith("\n")) text = text.slice(1);
    endedInCr = text === "" ? false : text.endsWith("\r");
    const lines = (rest + text).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? "";
    return lines.map(takeLine).filter((frame) => frame !== undefined);
  };
}
