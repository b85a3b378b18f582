import { createElement } from "preact";
import type { ComponentType, JSX } from "preact";
import type { Result } from "../api/result.ts";
import { useAsked } from "../hooks/use_asked.ts";
import { Show } from "./states.tsx";

interface LazyProps<Props> {
  load: () => Promise<ComponentType<Props>>;
  props: Props;
  /** Nothing is in its place until it is there. */
  isUnseen?: boolean;
}

/** A part of a page whose script is loaded when the part is first shown. */
export function Lazy<Props extends object>(lazy: LazyProps<Props>): JSX.Element | null {
  const { load, props, isUnseen = false } = lazy;
  const part = useAsked(() => resultOfImport(load), []);
  if (isUnseen && part.data === undefined) return null;
  return <Show asked={part}>{({ type }) => createElement(type, props)}</Show>;
}

async function resultOfImport<Type>(load: () => Promise<Type>): Promise<Result<{ type: Type }>> {
  try {
    return { ok: true, data: { type: await load() } };
  } catch {
    return { ok: false, problem: { status: 0, error: "the script did not come" } };
  }
}
