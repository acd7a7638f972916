import { describe, expect, test } from 'vitest';
import { at, attempt, round, ticket } from './sample';
import { spanBeside, timelineOf } from './timeline';

const NOW = Date.parse(at(100));

test('nobody worked: there is no lane', () => {
  expect(timelineOf([ticket('a')], NOW)).toMatchObject({ lanes: [], gaps: [], ticks: [] });
});

describe('lanes', () => {
  const line = timelineOf(
    [
      ticket('a', 'merged', { attempts: [attempt(1, 0, 40)], rounds: [round(1, 40, 50)] }),
      ticket('b', 'working', { attempts: [attempt(1, 10, undefined)] }),
      ticket('c', 'failed', { attempts: [attempt(1, 45, 60, { fault: 'stuck' })] }),
    ],
    NOW,
  );

  test('one for each persona, and a further one where it worked two tickets at once', () => {
    expect(line.lanes.map(({ who, first, spans }) => [who, first, spans.map((span) => span.ticket).join(' ')])).toEqual([
      ['code_worker', true, 'a c'],
      ['code_worker', false, 'b'],
      ['qa_reviewer', true, 'a'],
    ]);
  });

  test('places are in proportion', () => {
    const [a, c] = line.lanes[0]?.spans ?? [];
    expect([a?.left, a?.width]).toEqual([0, 0.4]);
    expect(c?.left).toBeCloseTo(0.45);
    expect(line.lanes[1]?.spans[0]).toMatchObject({ open: true, failed: false, left: 0.1, width: 0.9 });
    expect(c).toMatchObject({ open: false, failed: true });
  });

  test('ticks run from the beginning to the end', () => {
    expect(line.ticks.map(({ left }) => left)).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(line.ticks[0]?.at).toBe(Date.parse(at(0)));
    expect(line.ticks.at(-1)?.at).toBe(NOW);
  });
});

test('a long time without work is cut, and says how long it was', () => {
  const night = 10 * 3600;
  const line = timelineOf([ticket('a', 'merged', { attempts: [attempt(1, 0, 100), attempt(2, 100 + night, 200 + night)] })], NOW);
  expect(line.gaps.map(({ ms }) => ms)).toEqual([night * 1000]);
  expect(line.gaps[0]?.width).toBeLessThan(0.1);
  const [first, second] = line.lanes[0]?.spans ?? [];
  expect(first?.width).toBeCloseTo(second?.width ?? 0);
});

test('arrow keys move along a lane, and to the nearest span of another one', () => {
  const { lanes } = timelineOf([ticket('a', 'merged', { attempts: [attempt(1, 0, 10), attempt(2, 20, 30)], rounds: [round(1, 10, 12), round(2, 30, 31)] })], NOW);
  expect(spanBeside(lanes, 'a:attempt:1', 'ArrowRight')).toBe('a:attempt:2');
  expect(spanBeside(lanes, 'a:attempt:2', 'ArrowDown')).toBe('a:review:1');
  expect(spanBeside(lanes, 'a:review:2', 'ArrowUp')).toBe('a:attempt:2');
  expect(spanBeside(lanes, 'a:attempt:1', 'ArrowUp')).toBeUndefined();
  expect(spanBeside(lanes, 'gone', 'ArrowLeft')).toBe('a:attempt:1');
});
