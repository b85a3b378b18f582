import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ownApi } from "../../api/client.ts";
import { resultOf } from "../../api/result.ts";
import type { MadeKey } from "../../api/types.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { Choice } from "../choice.tsx";
import { Field, issueOf, problemBeside } from "../field.tsx";
import { ProblemNotice } from "../notice.tsx";
import { Submit } from "../submit.tsx";
import { endOf } from "./end_of.ts";

const powers = [
  { value: "read,trade", label: "Read and trade" },
  { value: "read", label: "Only read" },
  { value: "trade", label: "Only trade" },
] as const;

const lives = [
  { value: "for-good", label: "Until revoked" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
] as const;

type Power = (typeof powers)[number]["value"];
type Life = (typeof lives)[number]["value"];
type Scopes = ("read" | "trade")[];

interface KeyFormProps {
  onMade: (key: MadeKey) => void;
  /** It may have been made all the same, if there was no answer. */
  onFailed: () => void;
}

/** Makes a key. What is not chosen is as keys always were: all powers, without end, from anywhere. */
export function KeyForm({ onMade, onFailed }: KeyFormProps): JSX.Element {
  const [name, setName] = useState("");
  const [power, setPower] = useState<Power>("read,trade");
  const [life, setLife] = useState<Life>("for-good");
  const [addresses, setAddresses] = useState("");
  const command = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = {
      name,
      scopes: power.split(",") as Scopes,
      expiresAt: endOf(life),
      allowedAddresses: listOf(addresses),
    };
    void command.give(
      async () => {
        const result = await resultOf(ownApi.POST("/api/account/keys", { body }));
        if (!result.ok) onFailed();
        return result;
      },
      (key) => {
        setName("");
        onMade(key);
      },
    );
  };
  return (
    <form onSubmit={submit} noValidate>
      <Field
        label="Name of the new key"
        name="keyName"
        value={name}
        error={issueOf(command.problem, "name")}
        onValue={setName}
      />
      <Choice label="What it may do" value={power} options={powers} onChange={setPower} />
      <Choice label="How long it is valid" value={life} options={lives} onChange={setLife} />
      <Field
        label="Where it may be used"
        name="allowedAddresses"
        value={addresses}
        hint="Addresses or networks, such as 203.0.113.7 or 10.0.0.0/8, with spaces between them. Empty: everywhere."
        error={issueOf(command.problem, "allowedAddresses")}
        onValue={setAddresses}
      />
      <ProblemNotice problem={problemBeside(command.problem, ["name", "allowedAddresses"])} />
      <Submit isBusy={command.isBusy}>Create key</Submit>
    </form>
  );
}

/** What was typed, or null for nothing. */
function listOf(addresses: string): string[] | null {
  const list = addresses.split(/[\s,;]+/).filter((address) => address !== "");
  return list.length === 0 ? null : list;
}
