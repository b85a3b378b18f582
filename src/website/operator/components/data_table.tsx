import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../../api/result.ts";
import { Field } from "../../components/field.tsx";
import { Empty, Loading, Show } from "../../components/states.tsx";
import { useAsked } from "../../hooks/use_asked.ts";
import { useCommand } from "../../hooks/use_command.ts";
import { query, setQuery } from "../../router.ts";
import { saveFile } from "../../save_file.ts";
import {
  conditionOf,
  faultOf,
  identified,
  isIndexed,
  isSortable,
  nameIn,
  orderBy,
  queryOf,
  stateOf,
} from "../api/filters.ts";
import type { ListState } from "../api/filters.ts";
import { readCsvFile } from "../api/csv_file.ts";
import type { Chosen } from "../api/csv_file.ts";
import { ask, changes } from "../api/graphql.ts";
import { askForUser } from "../api/queries.ts";
import { isShort, readPage, readTotal } from "../api/pages.ts";
import type { Total } from "../api/pages.ts";
import { showCount, showTotal } from "../api/values.ts";
import { LAST_PAGE, PAGE_ROWS } from "../views/query.ts";
import type { Row } from "../views/query.ts";
import type { Column, Condition, Filter, View } from "../views/view.ts";
import { isNumber } from "./cell.tsx";
import { Select } from "./inputs.tsx";
import { StaffProblem } from "./problem.tsx";
import { plainHead, RowTable } from "./row_table.tsx";

interface DataTableProps {
  view: View;
  /** What all rows of this page have in common. */
  where?: Condition;
  /** Fields whose columns and filters the page needs not. */
  without?: readonly string[];
  /** Tells its part of the address from those of other lists of the page. */
  prefix?: string;
}

/** A list of rows of a view: filtered, ordered and divided into pages by the server. */
export function DataTable(props: DataTableProps): JSX.Element {
  const { where, without = [], prefix = "" } = props;
  const view = withoutFields(props.view, without);
  const state = stateOf(view, query.value, prefix);
  const condition = conditionOf(view, state.typed, where);
  const causes = [view.list, JSON.stringify(condition), changes.value];
  const rows = useAsked<Row[]>(
    () => readPage(ask, view, condition, state),
    [...causes, state.page, state.order],
  );
  const total = useAsked(() => readTotal(ask, view, condition), causes);
  const canSort = isShort(total.data);
  const order = canSort || isIndexed(view, state.order) ? state.order : view.order;
  const isFiltered = Object.values(state.typed).some((text) => text !== "");
  const isEmpty = rows.data?.length === 0 && state.page === 1;
  // Rows may be on their way.
  const isAwaited = isEmpty && rows.isLoading;
  return (
    <div class="data">
      {view.filters.length > 0 && <Filters view={view} state={state} prefix={prefix} />}
      <Show asked={rows} lines={6}>
        {(found) =>
          isAwaited ? (
            <Loading lines={6} />
          ) : isEmpty ? (
            <Empty title={isFiltered ? "No row fits these filters." : view.empty} />
          ) : (
            <Rows {...{ view, order, canSort, prefix }} rows={found} />
          )
        }
      </Show>
      {rows.data !== undefined && !isEmpty && (
        <div class="data-foot">
          <Pages state={state} prefix={prefix} total={total.data} rows={rows.data.length} />
          <CsvButton view={view} condition={condition} order={order} />
        </div>
      )}
    </div>
  );
}

function withoutFields(view: View, without: readonly string[]): View {
  const stays = ({ field }: { field: string | readonly string[] }): boolean =>
    typeof field !== "string" || !without.includes(field);
  return {
    ...view,
    columns: view.columns.filter(stays),
    filters: view.filters.filter(stays),
  };
}

interface FiltersProps {
  view: View;
  state: ListState;
  prefix: string;
}

function Filters({ view, state, prefix }: FiltersProps): JSX.Element {
  const inAddress = JSON.stringify(state.typed);
  const [typed, setTyped] = useState<Record<string, string>>({});
  // What was typed belongs to the filters that it was typed over.
  const [over, setOver] = useState(inAddress);
  const values = over === inAddress ? { ...state.typed, ...typed } : state.typed;
  const type = (name: string, value: string): void => {
    setTyped(over === inAddress ? { ...typed, [name]: value } : { [name]: value });
    setOver(inAddress);
  };
  const isAny = Object.values(state.typed).some((text) => text !== "");
  const [issues, setIssues] = useState<Record<string, string>>({});
  const finding = useCommand();
  const submit = (event: Event): void => {
    event.preventDefault();
    void finding.give(
      () => identified(view, values, askForUser),
      (found) => {
        setIssues(found.issues);
        if (Object.keys(found.issues).length === 0) setQuery(queryOf(view, found.typed, prefix));
      },
    );
  };
  return (
    <form class="filter-form" noValidate onSubmit={submit}>
      {view.filters.map((filter) => (
        <FilterField
          key={filter.name}
          filter={filter}
          value={values[filter.name] ?? ""}
          error={issues[filter.name] ?? faultOf(filter, state.typed[filter.name] ?? "")}
          onValue={(value) => {
            type(filter.name, value);
          }}
        />
      ))}
      <div class="button-row">
        <button type="submit" class="button button-main">
          Filter
        </button>
        {isAny && (
          <button
            type="button"
            class="button"
            onClick={() => {
              setTyped({});
              setIssues({});
              setQuery(queryOf(view, {}, prefix));
            }}
          >
            Show all
          </button>
        )}
      </div>
      <StaffProblem problem={finding.problem} />
    </form>
  );
}

const yesOrNo = [
  ["yes", "yes"],
  ["no", "no"],
] as const;

interface FilterFieldProps {
  filter: Filter;
  value: string;
  /** What is wrong with the value that the rows were asked by. */
  error: string | undefined;
  onValue: (value: string) => void;
}

function FilterField({ filter, value, error, onValue }: FilterFieldProps): JSX.Element {
  const { kind, label, name } = filter;
  if (["choice", "flag", "isSet", "isSome"].includes(kind)) {
    const options = filter.options?.map(([one, words]) => [one, words] as const) ?? yesOrNo;
    return <Select {...{ label, value, options, onValue }} none="any" />;
  }
  const isTime = kind === "from" || kind === "until";
  const type = isTime ? "datetime-local" : "text";
  return <Field {...{ label, name, value, error, onValue, type }} />;
}

interface RowsProps {
  view: View;
  rows: Row[];
  order: string;
  /** Whether the list is short enough to be ordered by any column. */
  canSort: boolean;
  prefix: string;
}

function Rows({ view, rows, order, canSort, prefix }: RowsProps): JSX.Element {
  return (
    <RowTable
      label={`Rows: ${view.title}`}
      columns={view.columns}
      rows={rows}
      head={(column) => (
        <Head
          key={column.field}
          {...{ column, order, prefix }}
          isSorted={isSortable(view, column, canSort)}
        />
      )}
    />
  );
}

interface HeadProps {
  column: Column;
  order: string;
  isSorted: boolean;
  prefix: string;
}

function Head({ column, order, isSorted, prefix }: HeadProps): JSX.Element {
  if (!isSorted) return plainHead(column);
  const { field, label, kind } = column;
  const [down, up] = [orderBy(field, true), orderBy(field, false)];
  const sort = order === down ? "descending" : order === up ? "ascending" : undefined;
  return (
    <th scope="col" class={isNumber(kind) ? "at-end" : ""} aria-sort={sort}>
      <button
        type="button"
        class="sort"
        onClick={() => {
          setQuery({
            [nameIn(prefix, "sort")]: order === down ? up : down,
            [nameIn(prefix, "page")]: undefined,
          });
        }}
      >
        {label}
        <span aria-hidden="true">{order === down ? " ↓" : order === up ? " ↑" : ""}</span>
      </button>
    </th>
  );
}

interface PagesProps {
  state: ListState;
  prefix: string;
  total: Total | undefined;
  rows: number;
}

function Pages({ state: { page }, prefix, total, rows }: PagesProps): JSX.Element {
  const go = (to: number): void => {
    setQuery({ [nameIn(prefix, "page")]: to === 1 ? undefined : String(to) });
  };
  const first = (page - 1) * PAGE_ROWS + 1;
  const hasNext =
    page < LAST_PAGE &&
    (isShort(total) ? page * PAGE_ROWS < (total?.count ?? 0) : rows === PAGE_ROWS);
  const span =
    rows === 0 ? "No rows" : `Rows ${showCount(first)} to ${showCount(first + rows - 1)}`;
  return (
    <>
      <p class="muted" role="status">
        {span}
        {total !== undefined && ` of ${showTotal(total)}`}
        {total?.isMore === true && ". Filter them to sort by other columns or to see later ones."}
      </p>
      <div class="button-row">
        <button
          type="button"
          class="button button-small"
          disabled={page === 1}
          onClick={() => {
            go(page - 1);
          }}
        >
          Page before
        </button>
        <button
          type="button"
          class="button button-small"
          disabled={!hasNext}
          onClick={() => {
            go(page + 1);
          }}
        >
          Next page
        </button>
      </div>
    </>
  );
}

/** Saves all rows that the filters choose. */
function CsvButton(chosen: Chosen): JSX.Element {
  const command = useCommand();
  const [count, setCount] = useState(0);
  const save = (): void => {
    setCount(0);
    const send = (): Promise<Result<string[]>> => readCsvFile(ask, chosen, setCount);
    void command.give(send, (parts) => {
      const name = `${chosen.view.title.toLowerCase().replaceAll(" ", "_")}.csv`;
      saveFile(new Blob(parts, { type: "text/csv" }), name);
    });
  };
  return (
    <>
      <button
        type="button"
        class="button button-small"
        aria-disabled={command.isBusy}
        onClick={save}
      >
        {command.isBusy ? `${showCount(count)} rows…` : "CSV"}
      </button>
      <StaffProblem problem={command.problem} />
    </>
  );
}
