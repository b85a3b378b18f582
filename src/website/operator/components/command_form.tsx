import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../../api/result.ts";
import { ConfirmDialog } from "../../components/confirm_dialog.tsx";
import { Fact } from "../../components/fact.tsx";
import { Checkbox, Field } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { Submit } from "../../components/submit.tsx";
import { Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { saveFile } from "../../save_file.ts";
import { ask, changes, noteChange } from "../api/graphql.ts";
import { askForRows } from "../api/queries.ts";
import { askBefore } from "../api/subject.ts";
import type { Subject } from "../api/subject.ts";
import type { Row } from "../views/query.ts";
import { mayCall } from "../api/session.ts";
import { showCents } from "../api/values.ts";
import { fieldsToSend, readArguments, textsInForce } from "../commands/arguments.ts";
import { fileNameOf, namedArguments } from "../commands/command.ts";
import { confirmWords } from "../commands/confirm.ts";
import type { Arguments, Command, CommandField, Fields, Setting } from "../commands/command.ts";
import { mutationOf } from "../commands/mutation.ts";
import { Facts } from "./facts.tsx";
import { LongField, Select } from "./inputs.tsx";
import { PaidInAll } from "./payout_preview.tsx";
import { StaffProblem } from "./problem.tsx";
import { Readable, Value } from "./readable.tsx";
import { Secret } from "./secret.tsx";
import { RowSheet } from "./row_sheet.tsx";

interface CommandFormProps {
  command: Command;
  /** Arguments that the page knows. */
  given?: Arguments;
  /** What fields have first, which may depend on what was typed. */
  initial?: Fields | ((typed: Fields) => Fields);
  /** Whether it is unfolded at first. */
  isOpen?: boolean;
  onDone?: (result: unknown) => void;
  /** The name of whom or what the page is about, for a question and for a print of rows. */
  about?: string;
  /** Of the user whom the page is about, for names of files. */
  handle?: string;
  /** What the question shows in full: the values of a call that is carried out. */
  shown?: Row;
}

/** A form for a command, folded. Who lacks the role for the command does not see it. */
export function CommandForm(props: CommandFormProps): JSX.Element | null {
  const { command, isOpen = false } = props;
  const [isUnfolded, setIsUnfolded] = useState(isOpen);
  const { sets } = command;
  if (!mayCall(command.role)) return null;
  return (
    <details
      class="panel command"
      open={isOpen}
      onToggle={({ currentTarget }) => {
        setIsUnfolded(currentTarget.open);
      }}
    >
      <summary>{command.title}</summary>
      {sets === undefined && <Form {...props} />}
      {sets !== undefined && isUnfolded && <FormInForce {...props} sets={sets} />}
    </details>
  );
}

/** A form that begins with what is in force when it is unfolded. */
function FormInForce(props: CommandFormProps & { sets: Setting }): JSX.Element {
  const { command, sets } = props;
  const asked = useAsked(() => askForRows(sets.view), [changes.value]);
  return (
    <Show asked={asked} lines={1}>
      {(rows) => (
        <Form
          {...props}
          initial={(typed) => textsInForce({ ...command, sets }, rows, typed)}
          isStale={asked.isLoading || asked.problem !== undefined}
        />
      )}
    </Show>
  );
}

/** What is to be confirmed, and whom or what it is about if that was typed. */
interface Asked {
  input: Arguments;
  subject: Subject | undefined;
}

type Given = Result<{ answer: { result?: unknown } }>;

interface FormProps extends CommandFormProps {
  /** Whether what it begins with may not be so any more. */
  isStale?: boolean;
}

function Form(props: FormProps): JSX.Element {
  const { command, given = {}, initial = {}, isStale = false } = props;
  const { onDone, about, handle, shown } = props;
  // What nobody touched shows what the page knows, also after it has changed.
  const [changed, setChanged] = useState<Record<string, string>>({});
  const first = typeof initial === "function" ? initial(changed) : initial;
  const before: Fields = { ...initialOf(command), ...first };
  const typed: Fields = { ...before, ...changed };
  const [issues, setIssues] = useState<Partial<Record<string, string>>>({});
  const [asked, setAsked] = useState<Asked>();
  const [refused, setRefused] = useState<Arguments>();
  const [isUnchanged, setIsUnchanged] = useState(false);
  const [done, setDone] = useState<{ result: unknown; given: Arguments }>();
  const giving = useCommand();

  const give = (input: Arguments): void => {
    setRefused(undefined);
    const send = async (): Promise<Given> => {
      const answer: Given = await ask(mutationOf(command), { input });
      if (!answer.ok && answer.problem.code === "APPROVAL_REQUIRED") {
        setRefused(input);
        setAsked(undefined);
      }
      return answer;
    };
    void giving.give(send, ({ answer }) => {
      setAsked(undefined);
      setDone({ result: answer.result, given: input });
      if (command.returns === "file") saveJson(answer.result, fileNameOf(command, input, handle));
      // What was only tried is there for the real call.
      if (input.dryRun !== true) setChanged({});
      noteChange();
      onDone?.(answer.result);
    });
  };
  const confirmOrGive = (input: Arguments, subject?: Subject): void => {
    const isShown = subject !== undefined && command.returns !== "rows";
    if (isShown || command.confirm !== undefined) setAsked({ input, subject });
    else give(input);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    const { fields, isUnchanged: isSame } = fieldsToSend(command, typed, before);
    const read = readArguments({ ...command, fields }, typed, given);
    giving.reset();
    setIssues(read.ok ? {} : read.issues);
    setIsUnchanged(read.ok && isSame);
    if (!read.ok || isSame || isStale) return;
    void giving.give(
      () => askBefore(command, read.given, given),
      (found) => {
        giving.reset();
        if (found.issues === undefined) confirmOrGive(found.input, found.subject);
        else setIssues(found.issues);
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      {command.fields
        .filter(({ argument }) => !(argument in given))
        .map((field) => (
          <Input
            key={field.argument}
            field={field}
            value={typed[field.argument] ?? ""}
            error={issues[field.argument]}
            onValue={(value) => {
              setChanged({ ...changed, [field.argument]: value });
            }}
          />
        ))}
      {asked === undefined && <StaffProblem problem={giving.problem} />}
      {isUnchanged && <Notice kind="info">Nothing was changed.</Notice>}
      {giving.isDone && done !== undefined && <Answer {...{ command, about, handle, ...done }} />}
      <Submit isBusy={giving.isBusy || isStale}>{command.action}</Submit>
      {asked !== undefined && (
        <Confirm
          {...{ command, giving, about, shown, ...asked }}
          onConfirm={() => {
            give(asked.input);
          }}
          onClose={() => {
            setAsked(undefined);
          }}
        />
      )}
      {refused !== undefined && <Propose command={command} given={refused} />}
    </form>
  );
}

interface ConfirmProps extends Asked {
  command: Command;
  giving: ReturnType<typeof useCommand>;
  about: string | undefined;
  shown: Row | undefined;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before a command, and shows whom or what it is about. */
function Confirm(props: ConfirmProps): JSX.Element {
  const { command, giving, input, subject, about, shown, ...dialog } = props;
  const { action } = command;
  const words = confirmWords(command, input, subject?.name ?? about);
  return (
    <ConfirmDialog
      {...{ action, ...dialog }}
      title={`${action}?`}
      command={{ ...giving, problem: undefined }}
    >
      {subject !== undefined && <Facts columns={subject.columns} row={subject.row} />}
      {words !== undefined && <p>{words}</p>}
      {shown !== undefined && <Readable value={shown} />}
      {command.showsPayout === true && <PaidInAll given={input} />}
      <TypedTexts command={command} given={input} />
      <StaffProblem problem={giving.problem} />
    </ConfirmDialog>
  );
}

/** The reason and the evidence as they were typed: others will read them. */
function TypedTexts({
  command,
  given,
}: {
  command: Command;
  given: Arguments;
}): JSX.Element | null {
  const typed = command.fields.filter(({ argument }) => ["reason", "evidence"].includes(argument));
  if (typed.length === 0) return null;
  return (
    <dl class="readable">
      {typed.map(({ argument, label }) => {
        const text = given[argument];
        return (
          <Fact key={argument} name={label}>
            {typeof text === "string" ? text : <span class="muted">none</span>}
          </Fact>
        );
      })}
    </dl>
  );
}

function saveJson(value: unknown, name: string): void {
  const text = JSON.stringify(value, null, 2);
  saveFile(new Blob([text], { type: "application/json" }), `${name}.json`);
}

function initialOf({ fields }: Command): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap(({ argument, initial }) => (initial === undefined ? [] : [[argument, initial]])),
  );
}

interface InputProps {
  field: CommandField;
  value: string;
  error: string | undefined;
  onValue: (value: string) => void;
}

function Input({ field, value, error, onValue }: InputProps): JSX.Element {
  const { label, kind, argument: name, hint, options = [] } = field;
  if (kind === "flag") {
    return (
      <Checkbox
        label={label}
        isChecked={value === "yes"}
        onChange={(isChecked) => {
          onValue(isChecked ? "yes" : "");
        }}
      />
    );
  }
  if (options.length > 0) {
    return <Select {...{ label, value, options, hint, error, onValue }} none="choose" />;
  }
  if (["long", "json", "entries"].includes(kind)) {
    return <LongField {...{ label, name, value, hint, error, onValue }} />;
  }
  return (
    <Field
      {...{ label, name, value, hint, error, onValue }}
      type={kind === "time" ? "datetime-local" : "text"}
      {...(kind === "number" && { inputMode: "numeric" as const })}
      {...(kind === "percent" && { inputMode: "decimal" as const, unit: "%" })}
      {...(kind === "cents" && { inputMode: "decimal" as const, unit: "€" })}
      required={field.isRequired === true}
    />
  );
}

/** That a file is saved, and what is not in it. */
function Saved({ leftOut = [] }: { leftOut: string[] | undefined }): JSX.Element {
  if (leftOut.length === 0) return <Notice kind="good">Saved.</Notice>;
  return <Notice kind="warn">Saved, but for what has too many rows: {leftOut.join(", ")}.</Notice>;
}

interface AnswerProps {
  command: Command;
  result: unknown;
  given: Arguments;
  about: string | undefined;
  handle: string | undefined;
}

/** What the command returned. */
function Answer({ command, result, given, about, handle }: AnswerProps): JSX.Element {
  const { returns, result: words = "Done" } = command;
  if (returns === "nothing" || result === null || result === undefined) {
    return <Notice kind="good">Done.</Notice>;
  }
  if (returns === "file") return <Saved leftOut={(result as { left_out?: string[] }).left_out} />;
  if (returns === "secret") {
    return <Secret words={words} text={typeof result === "string" ? result : ""} />;
  }
  if (returns === "rows") {
    const rows = result as Row[];
    const above = command.above?.(given);
    return rows.length === 0 ? (
      <Notice kind="good">{command.none?.(given) ?? "Done: no rows."}</Notice>
    ) : (
      <>
        {above !== undefined && <Notice kind="info">{above}</Notice>}
        <RowSheet {...{ command, given, rows, about, file: fileNameOf(command, given, handle) }} />
      </>
    );
  }
  return (
    <Notice kind="good">
      {words}:{" "}
      {returns === "cents" ? showCents(result as string) : <Value name="result" value={result} />}
    </Notice>
  );
}

const proposing = mutationOf({ name: "propose", returns: "value" });

interface ProposeProps {
  command: Command;
  given: Arguments;
}

/** Proposes a call that needs another member of staff, with the same arguments. */
function Propose({ command, given }: ProposeProps): JSX.Element {
  const [reason, setReason] = useState("");
  const [issue, setIssue] = useState<string>();
  const [proposalId, setProposalId] = useState<string>();
  const giving = useCommand();
  const propose = (): void => {
    if (reason.trim() === "") {
      setIssue("This is required.");
      return;
    }
    setIssue(undefined);
    const input = { command: command.name, arguments: namedArguments(given), reason };
    void giving.give(
      () => ask<{ answer: { result: string } }>(proposing, { input }),
      ({ answer }) => {
        setProposalId(answer.result);
        noteChange();
      },
    );
  };
  if (proposalId !== undefined) {
    return (
      <Notice kind="good">
        Proposed. <a href={`/operator/proposals/${proposalId}`}>See the proposal</a>
      </Notice>
    );
  }
  return (
    <div class="propose">
      <Field
        label="Why you propose it"
        name="proposal"
        value={reason}
        error={issue}
        onValue={setReason}
      />
      <StaffProblem problem={giving.problem} />
      <button
        type="button"
        class="button button-main"
        aria-disabled={giving.isBusy}
        onClick={propose}
      >
        Propose
      </button>
    </div>
  );
}
