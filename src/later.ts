/** A timer. The function that it returns stops it. */
export type Later = (work: () => void, ms: number) => () => void;

export const startTimer: Later = (work, ms) => {
  const timer = setTimeout(work, ms);
  return () => {
    clearTimeout(timer);
  };
};
