import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Moves the focus to a page that was navigated to, so that keyboards and readers start there. */
export function useFocusOnNewPage(
  shown: { name: string; id: string } | undefined,
): RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [shown?.name, shown?.id]);
  return main;
}
