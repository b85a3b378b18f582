import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Command } from "../hooks/use_command.ts";
import { ProblemNotice } from "./notice.tsx";

interface ConfirmDialogProps {
  title: string;
  /** What the button says that does it. */
  action: string;
  command: Command;
  /** What its problem says in place of the usual words. */
  words?: string | undefined;
  onConfirm: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

/**
 * Asks before something that cannot be undone. The browser keeps the focus inside, closes it by
 * Escape, and gives the focus back.
 */
export function ConfirmDialog(props: ConfirmDialogProps): JSX.Element {
  const { title, action, command, words, onConfirm, onClose, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const back = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // What is harmless: the key that opened the dialog may be pressed twice.
    back.current?.focus();
    return () => {
      element?.close();
    };
  }, []);
  return (
    <dialog class="dialog" ref={dialog} aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{title}</h2>
      <div class="muted">{children}</div>
      <ProblemNotice problem={command.problem} words={words} />
      <div class="button-row">
        <button
          type="button"
          class="button button-danger"
          aria-disabled={command.isBusy}
          onClick={onConfirm}
        >
          {command.isBusy ? "One moment…" : action}
        </button>
        <button type="button" class="button" ref={back} onClick={() => dialog.current?.close()}>
          Back
        </button>
      </div>
    </dialog>
  );
}
