import { describe, expect, test } from 'vitest';
import { cellKey, columnKey, filtered, gridOf, headline, heard, moved, picked, stateOf, type Cell, type CellState, type Run, type RunColumn, type RunEvent } from './grid';

const cell = (input: string, state: CellState, more: Partial<Cell> = {}): Cell => ({
  input, column: 'now', sample: 0, state, expectations: [], tokens: 0, ms: 0, cached: false, coverage: 1, ...more,
});
/** A column, without the figures that the grid does not show. */
const column = (of: Partial<RunColumn>) => ({ column: 'now', revision: 12, model: 'a/m', ...of }) as RunColumn;
const run = (id: string, cells: Cell[], more: Partial<Run> = {}) => ({
  id, persona: 'p', state: 'finished', columns: [column({})], cells, started_at: `2026-01-0${id}`, ...more,
}) as Run;
const old = (id: string, cells: Cell[]): Run =>
  run(id, cells.map((one) => ({ ...one, column: '11' })), { columns: [column({ column: '11', revision: 11, changed: ['part:tone'] })] });
const NOW = 'now|a/m';

describe('the grid', () => {
  test('has the inputs of the persona before anything ran', () => {
    expect(gridOf([], ['one', 'two'])).toMatchObject({ columns: [], rows: ['one', 'two'] });
  });

  test('takes each cell from the newest run that has it', () => {
    const grid = gridOf([run('1', [cell('one', 'failed'), cell('two', 'passed')]), run('2', [cell('one', 'passed')])], ['one', 'two']);
    expect(grid.columns).toMatchObject([{ key: NOW, label: 'now · r12', passed: 2, total: 2 }]);
    expect(grid.cells.get(cellKey('one', NOW))).toMatchObject({ run: '2' });
    expect(grid.cells.get(cellKey('two', NOW))).toMatchObject({ run: '1' });
  });

  test('keeps columns where the reader put them', () => {
    const grid = gridOf([run('2', [cell('one', 'passed')]), old('1', [cell('one', 'failed')]), run('3', [cell('one', 'passed')])], []);
    expect(grid.columns.map(({ label }) => label)).toEqual(['now · r12', 'r11']);
  });

  test('names models only where they differ', () => {
    const other = run('2', [cell('one', 'passed')], { columns: [column({ model: 'b/n' })] });
    expect(gridOf([run('1', []), other], []).columns.map(({ label }) => label)).toEqual(['now · r12 · a/m', 'now · r12 · b/n']);
    expect(columnKey({ column: 'now', model: 'b/n' })).toBe('now|b/n');
  });

  test('sums up, beside an earlier revision', () => {
    const now = run('2', [cell('one', 'passed'), cell('two', 'passed')]);
    expect(headline(gridOf([now], []))).toBe('2 of 2 pass');
    expect(headline(gridOf([now, old('1', [cell('one', 'passed'), cell('two', 'failed')])], []))).toBe('2 of 2 pass, was 1 at r11');
    expect(headline(gridOf([now, old('1', [cell('one', 'passed')])], []))).toBe('2 of 2 pass, was 1 of 1 at r11');
    expect(headline(gridOf([], ['one']))).toBe('');
  });

  test('filters rows', () => {
    const grid = gridOf(
      [run('2', [cell('one', 'passed'), cell('two', 'failed'), cell('three', 'passed')]), old('1', [cell('one', 'failed'), cell('two', 'failed')])],
      ['one', 'two', 'three', 'never'],
    );
    expect(filtered(grid, undefined)).toEqual(['one', 'two', 'three', 'never']);
    expect(filtered(grid, 'failing')).toEqual(['one', 'two']);
    expect(filtered(grid, 'different')).toEqual(['one']);
    expect(filtered(grid, 'changed')).toEqual(['one', 'two']);
  });
});

describe('a stream', () => {
  const begun = run('1', [cell('one', 'waiting'), cell('two', 'waiting')], { state: 'running' });
  const events: readonly RunEvent[] = [
    { type: 'cell_started', cell: cell('one', 'running') },
    { type: 'cell_finished', cell: cell('one', 'passed', { reply: 'hi' }) },
    { type: 'cell_started', cell: cell('two', 'running') },
    { type: 'cell_finished', cell: cell('two', 'failed') },
    { type: 'run_finished', report: { ...begun, state: 'finished', cells: [] } },
  ];

  test('fills cells and keeps them at the end', () => {
    const end = events.reduce<Run>(heard, begun);
    expect(end.state).toBe('finished');
    expect(end.cells.map(({ state, reply }) => [state, reply])).toEqual([['passed', 'hi'], ['failed', undefined]]);
  });

  test('told from its beginning again, changes nothing and never goes back', () => {
    const end = events.reduce<Run>(heard, begun);
    for (let cut = 0; cut <= events.length; cut += 1) {
      const partly = events.slice(0, cut).reduce<Run>(heard, begun);
      let now = partly;
      for (const event of events) {
        now = heard(now, event);
        const finished = partly.cells.filter(({ state }) => state !== 'waiting' && state !== 'running');
        for (const before of finished) expect(now.cells).toContainEqual(before);
      }
      expect(now).toEqual(end);
    }
  });

  test('samples are cells of their own', () => {
    const more = heard(begun, { type: 'cell_finished', cell: cell('one', 'passed', { sample: 1 }) });
    expect(gridOf([more], []).cells.get(cellKey('one', NOW))?.samples.map(({ sample, state }) => [sample, state])).toEqual([[0, 'waiting'], [1, 'passed']]);
  });
});

test('the worst sample counts, and what runs comes first', () => {
  const of = (...states: CellState[]) => stateOf(states.map((state) => cell('x', state)));
  expect(of('passed', 'failed', 'passed')).toBe('failed');
  expect(of('passed', 'running', 'failed')).toBe('running');
  expect(of('passed', 'passed')).toBe('passed');
  expect(of()).toBeUndefined();
});

test('arrows stay inside', () => {
  const at = { row: 0, column: 1 };
  expect(moved(at, 'ArrowUp', 3, 2)).toEqual({ row: 0, column: 1 });
  expect(moved(at, 'ArrowDown', 3, 2)).toEqual({ row: 1, column: 1 });
  expect(moved(at, 'ArrowRight', 3, 2)).toEqual({ row: 0, column: 1 });
  expect(moved(at, 'Home', 3, 2)).toEqual({ row: 0, column: 0 });
  expect(moved(at, 'x', 3, 2)).toBeUndefined();
});

test('two cells are picked, and a third takes the place of the first', () => {
  expect(['a', 'b', 'c'].reduce(picked, [] as string[])).toEqual(['b', 'c']);
  expect(picked(['a', 'b'], 'a')).toEqual(['b']);
});
