import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { readCloses } from "../../api/closes.ts";
import { SPARK_HEIGHT, SPARK_WIDTH, sparklinePath } from "./sparkline_path.ts";

/** The last days of a market as a small line. It is asked for once it can be seen. */
export function Sparkline({ marketId }: { marketId: string }): JSX.Element {
  const box = useRef<HTMLSpanElement>(null);
  const [closes, setCloses] = useState<number[]>([]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      void readCloses(marketId).then(setCloses);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
    };
  }, [marketId]);
  return (
    <span class="spark" ref={box} aria-hidden="true">
      {closes.length > 1 && (
        <svg
          viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
          width={SPARK_WIDTH}
          height={SPARK_HEIGHT}
        >
          <path d={sparklinePath(closes)} />
        </svg>
      )}
    </span>
  );
}
