import type { JSX } from "preact";
import { resultOf } from "../../api/result.ts";
import { fetchAsUser } from "../../api/session.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { saveFile } from "../../save_file.ts";
import { ProblemNotice } from "../notice.tsx";

interface CsvButtonProps {
  path: string;
  fileName: string;
}

/** Saves a list as a file for spreadsheets. */
export function CsvButton({ path, fileName }: CsvButtonProps): JSX.Element {
  const command = useCommand();
  return (
    <>
      <button
        type="button"
        class="button button-small"
        aria-disabled={command.isBusy}
        onClick={() =>
          void command.give(
            () => resultOf(askForCsv(path)),
            (blob) => {
              saveFile(blob, fileName);
            },
          )
        }
      >
        {command.isBusy ? "Preparing…" : "Save as CSV"}
      </button>
      <ProblemNotice problem={command.problem} />
    </>
  );
}

/** The most rows that the server gives at once. */
const LONGEST_PAGE = 200;

/** All pages of the list. Each has the names of the columns, which the file has once. */
async function askForCsv(
  path: string,
): Promise<{ data?: Blob; error?: unknown; response: Response }> {
  const parts: string[] = [];
  let next: string | undefined = `${path}${path.includes("?") ? "&" : "?"}limit=${LONGEST_PAGE}`;
  for (;;) {
    const request = new Request(new URL(next, location.origin), {
      headers: { Accept: "text/csv" },
    });
    const response = await fetchAsUser(request);
    if (!response.ok) return { error: await response.json(), response };
    const text = await response.text();
    parts.push(parts.length === 0 ? text : withoutFirstLine(text));
    next = nextPageOf(response.headers.get("Link"));
    if (next === undefined) return { data: new Blob(parts, { type: "text/csv" }), response };
  }
}

function withoutFirstLine(text: string): string {
  return text.slice(text.indexOf("\n") + 1);
}

/** The address in `<address>; rel="next"`. */
function nextPageOf(link: string | null): string | undefined {
  return /<([^>]+)>;\s*rel="?next"?/.exec(link ?? "")?.[1];
}
