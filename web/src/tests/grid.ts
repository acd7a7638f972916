import type { Schemas } from '../api/client';

/** The grid of test results, pure: runs in, columns, rows and cells out. Running a row again makes another
 * run of the same column; the newest run that has an input fills its cells. */

export type Run = Schemas['TestReport'];
export type Cell = Schemas['Cell'];
export type CellState = Cell['state'];
export type ExpectationResult = Schemas['ExpectationResult'];
export type Verdict = ExpectationResult['verdict'];
export type RunColumn = Run['columns'][number];
export type RunEvent = Schemas['TestEvent'];

const OPEN: readonly CellState[] = ['waiting', 'running'];

/** A stream begins with the first event of its run, so after a lost connection all of them come again. */
export function heard(run: Run, event: RunEvent): Run {
  if (event.type === 'run_finished') {
    return { ...run, ...event.report, cells: event.report.cells.length > 0 ? event.report.cells : run.cells };
  }
  const { cell } = event;
  const at = run.cells.findIndex((one) => one.input === cell.input && one.column === cell.column && one.sample === cell.sample);
  const known = run.cells[at];
  if (!known) return { ...run, cells: [...run.cells, cell] };
  // A finished cell stays so while its beginning is told again.
  if (event.type === 'cell_started' && !OPEN.includes(known.state)) return run;
  return { ...run, cells: run.cells.with(at, cell) };
}

export interface GridColumn {
  key: string;
  /** What `POST /api/tests` needs to run it again. */
  column: string;
  revision: number;
  model: string;
  label: string;
  stale: readonly string[];
  passed: number;
  total: number;
  running: boolean;
}

export interface GridCell {
  run: string;
  samples: Cell[];
  stale: boolean;
}

export interface Grid {
  columns: GridColumn[];
  rows: string[];
  cells: ReadonlyMap<string, GridCell>;
}

export function columnKey({ column, model }: { column: string; model: string }): string {
  return `${column}|${model}`;
}

export function cellKey(input: string, column: string): string {
  return `${input}\n${column}`;
}

/** `runs` in the order in which the reader added them. */
export function gridOf(runs: readonly Run[], inputs: readonly string[]): Grid {
  const columns = new Map<string, GridColumn>();
  const cells = new Map<string, GridCell>();
  const rows = new Set(inputs);
  const models = new Set(runs.flatMap((run) => run.columns.map(({ model }) => model)));
  for (const run of runs.toSorted((a, b) => a.started_at.localeCompare(b.started_at))) {
    for (const column of run.columns) {
      const key = columnKey(column);
      const stale = column.changed ?? [];
      columns.set(key, { key, column: column.column, revision: column.revision, model: column.model, label: label(column, models.size > 1), stale, passed: 0, total: 0, running: false });
      const mine = run.cells.filter((cell) => cell.column === column.column);
      for (const input of new Set(mine.map((cell) => cell.input))) {
        rows.add(input);
        const samples = mine.filter((cell) => cell.input === input).toSorted((a, b) => a.sample - b.sample);
        cells.set(cellKey(input, key), { run: run.id, samples, stale: stale.length > 0 });
      }
    }
  }
  for (const column of columns.values()) {
    const mine = [...rows].flatMap((input) => cells.get(cellKey(input, column.key))?.samples ?? []);
    column.total = mine.length;
    column.passed = mine.filter(({ state }) => state === 'passed').length;
    column.running = mine.some(({ state }) => OPEN.includes(state));
  }
  // Columns stay where the reader put them, however often they ran.
  const order = runs.flatMap((run) => run.columns.map(columnKey));
  return { columns: [...columns.values()].toSorted((a, b) => order.indexOf(a.key) - order.indexOf(b.key)), rows: [...rows], cells };
}

function label({ column, revision, model }: RunColumn, withModel: boolean): string {
  const version = column === 'now' ? `now · r${revision}` : /^\d+$/.test(column) ? `r${column}` : `${column} · r${revision}`;
  return withModel ? `${version} · ${model}` : version;
}

/** All samples of a cell as one state: the worst counts, and what still runs comes first. */
export function stateOf(samples: readonly Cell[]): CellState | undefined {
  const order: CellState[] = ['running', 'waiting', 'error', 'failed', 'unjudged', 'unfinished', 'passed'];
  return order.find((state) => samples.some((cell) => cell.state === state));
}

export type Filter = 'failing' | 'different' | 'changed';

export function filtered(grid: Grid, filter: Filter | undefined): string[] {
  if (!filter) return grid.rows;
  return grid.rows.filter((input) => {
    const found = grid.columns.map(({ key }) => grid.cells.get(cellKey(input, key))).filter((cell) => cell !== undefined);
    const states = found.map(({ samples }) => stateOf(samples));
    if (filter === 'failing') return states.some((state) => state === 'failed' || state === 'error' || state === 'unjudged');
    if (filter === 'different') return new Set(states).size > 1;
    return found.some(({ stale }) => stale);
  });
}

/** `11 of 12 pass, was 9 at r11`: the persona as it is saved, or else the first column, beside another version. */
export function headline(grid: Grid): string {
  const first = grid.columns.find(({ column }) => column === 'now') ?? grid.columns[0];
  if (!first || first.total === 0) return '';
  const was = grid.columns.find((column) => column.revision !== first.revision && column.total > 0);
  const then = was ? `, was ${was.passed === first.passed && was.total === first.total ? 'the same' : was.total === first.total ? was.passed : `${was.passed} of ${was.total}`} at r${was.revision}` : '';
  return `${first.passed} of ${first.total} pass${then}`;
}

/** The cell that an arrow key moves to, as row and column. */
export function moved(at: { row: number; column: number }, key: string, rows: number, columns: number): { row: number; column: number } | undefined {
  const clamp = (value: number, size: number) => Math.max(0, Math.min(size - 1, value));
  const { row, column } = at;
  if (key === 'ArrowUp') return { row: clamp(row - 1, rows), column };
  if (key === 'ArrowDown') return { row: clamp(row + 1, rows), column };
  if (key === 'ArrowLeft') return { row, column: clamp(column - 1, columns) };
  if (key === 'ArrowRight') return { row, column: clamp(column + 1, columns) };
  if (key === 'Home') return { row, column: 0 };
  if (key === 'End') return { row, column: columns - 1 };
  return undefined;
}

/** Picks cells to compare: at most two, the oldest goes. */
export function picked(now: readonly string[], key: string): string[] {
  return now.includes(key) ? now.filter((one) => one !== key) : [...now, key].slice(-2);
}
