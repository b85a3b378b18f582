/** What a curl command line asks for. */
export interface CurlRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** What a curl command asks for, the shell's variables filled in. */
export function parseCurl(command: string, variables: Record<string, string>): CurlRequest {
  const args = words(command, variables).slice(1);
  let [method, url, body]: (string | undefined)[] = [];
  const headers: Record<string, string> = {};
  for (let arg = args.shift(); arg !== undefined; arg = args.shift()) {
    if (arg === "-X") method = args.shift();
    else if (arg === "-d") body = args.shift();
    else if (arg === "-H") {
      const [, name = "", value = ""] = /^([^:]+):\s*(.*)$/.exec(args.shift() ?? "") ?? [];
      headers[name] = value;
    } else if (/^-[siN]+$/.test(arg)) continue;
    else if (arg.startsWith("-") || url !== undefined) throw new Error(`curl ${arg}: unknown here`);
    else url = arg;
  }
  if (url === undefined) throw new Error("curl without an address");
  method ??= body === undefined ? "GET" : "POST";
  return { method, url, headers, ...(body !== undefined && { body }) };
}

/** Splits a line as a shell does that knows quotes and variables, and nothing else. */
function words(line: string, variables: Record<string, string>): string[] {
  const fillIn = (text: string): string =>
    text.replaceAll(/\$(\w+)/g, (_match, name: string) => {
      const value = variables[name];
      if (value === undefined) throw new Error(`$${name} is not set`);
      return value;
    });
  return (line.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map((word) =>
    (word.match(/'[^']*'|"[^"]*"|[^'"]+/g) ?? [])
      .map((piece) => {
        if (piece.startsWith("'")) return piece.slice(1, -1);
        return fillIn(piece.startsWith('"') ? piece.slice(1, -1) : piece);
      })
      .join(""),
  );
}
