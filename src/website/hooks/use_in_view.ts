import { useCallback, useRef, useState } from "preact/hooks";

/** The upper part of the window: what only shows its edge is not in view. */
const UPPER_PART = "-15% 0px -35%";

/** Whether an element is in the upper part of the window; `see` is its `ref`. */
export function useInView(): [see: (element: Element | null) => void, isInView: boolean] {
  const [isInView, setIsInView] = useState(false);
  const observer = useRef<IntersectionObserver>(undefined);
  const see = useCallback((element: Element | null) => {
    observer.current?.disconnect();
    setIsInView(false);
    if (element === null) return;
    observer.current = new IntersectionObserver(
      (entries) => {
        setIsInView(entries.at(-1)?.isIntersecting === true);
      },
      { rootMargin: UPPER_PART },
    );
    observer.current.observe(element);
  }, []);
  return [see, isInView];
}
