import type { JSX } from "preact";
import type { Closes } from "../../api/closes.ts";
import { SPARK_HEIGHT, SPARK_WIDTH, sparklinePath } from "./sparkline_path.ts";

/** The last days of a market as a small line. */
export function Sparkline({ closes }: { closes: Closes | undefined }): JSX.Element {
  const path = closes === undefined ? "" : sparklinePath(closes);
  return (
    <span class="spark" aria-hidden="true">
      {path !== "" && (
        <svg
          viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
          width={SPARK_WIDTH}
          height={SPARK_HEIGHT}
        >
          <path d={path} />
        </svg>
      )}
    </span>
  );
}
