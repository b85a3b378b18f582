import type { JSX } from "preact";
import { resultOf } from "../../api/result.ts";
import { fetchAsUser } from "../../api/session.ts";
import { useCommand } from "../../hooks/use_command.ts";
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
              save(blob, fileName);
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

async function askForCsv(
  path: string,
): Promise<{ data?: Blob; error?: unknown; response: Response }> {
  const request = new Request(new URL(path, location.origin), { headers: { Accept: "text/csv" } });
  const response = await fetchAsUser(request);
  if (response.ok) return { data: await response.blob(), response };
  return { error: await response.json(), response };
}

function save(blob: Blob, fileName: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
