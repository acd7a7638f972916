import { describe, expect, test } from 'vitest';
import { draw, drawn, MOST_NODES, natural, neighbour, NODE_HEIGHT, NODE_WIDTH, pathOf, shapeOf, type Link } from './graph';
import { layouter } from './layout';

const link = (from: string, to: string): Link => ({ from, to, added: false });
const IDS = ['T1', 'T2', 'T3', 'T4', 'T10'];
const LINKS = [link('T1', 'T2'), link('T1', 'T3'), link('T2', 'T4'), link('T3', 'T4')];

describe('places', () => {
  const drawing = draw(layouter, IDS, LINKS);
  const place = (id: string) => drawing.nodes.find((node) => node.id === id) ?? expect.fail(`${id} is not drawn`);

  test('what waits is to the right of what it waits for', () => {
    for (const { from, to } of LINKS) expect(place(to).x).toBeGreaterThan(place(from).x + NODE_WIDTH);
  });

  test('tickets do not lie on each other, and lie inside', () => {
    for (const a of drawing.nodes) {
      expect(a.x - NODE_WIDTH / 2).toBeGreaterThanOrEqual(0);
      expect(a.y + NODE_HEIGHT / 2).toBeLessThanOrEqual(drawing.height);
      for (const b of drawing.nodes) {
        if (a.id !== b.id) expect(Math.abs(a.x - b.x) >= NODE_WIDTH || Math.abs(a.y - b.y) >= NODE_HEIGHT).toBe(true);
      }
    }
  });

  test('the order of tickets and links moves nothing', () => {
    const other = draw(layouter, IDS.toReversed(), LINKS.toReversed());
    for (const node of drawing.nodes) expect(other.nodes).toContainEqual(node);
    expect(shapeOf(IDS, LINKS)).toBe(shapeOf(IDS.toReversed(), LINKS.toReversed()));
    expect(shapeOf(IDS, LINKS)).not.toBe(shapeOf(IDS, LINKS.slice(1)));
  });

  test('edges leave to the right and arrive from the left', () => {
    for (const { from, to, points } of drawing.edges) {
      expect(points[0]).toEqual({ x: place(from).x + NODE_WIDTH / 2, y: place(from).y });
      expect(points.at(-1)).toEqual({ x: place(to).x - NODE_WIDTH / 2, y: place(to).y });
    }
  });

  test('links to tickets that are not drawn are left out', () => {
    expect(draw(layouter, ['T1', 'T2'], LINKS).edges).toHaveLength(1);
  });
});

test('a path is a line where it is level, else a curve', () => {
  expect(pathOf([{ x: 0, y: 5 }, { x: 10, y: 5 }])).toBe('M0 5L10 5');
  expect(pathOf([{ x: 0, y: 0 }, { x: 10, y: 8 }])).toBe('M0 0C5 0 5 8 10 8');
  expect(pathOf([{ x: 0, y: 0 }])).toBe('');
});

test('of very many tickets those around one are drawn, in the order of the track', () => {
  const ids = Array.from({ length: 1000 }, (_, at) => `T${at}`);
  const chain = ids.slice(1).map((id, at) => link(ids[at] ?? '', id));
  const found = drawn(ids, chain, 'T500');
  expect(found).toHaveLength(MOST_NODES);
  expect(found).toContain('T500');
  expect(found).toContain('T450');
  expect(found).toEqual(found.toSorted(natural));
  expect(drawn(ids, chain, undefined)[0]).toBe('T0');
  expect(drawn(IDS, LINKS, undefined)).toEqual(IDS);
});

describe('arrow keys', () => {
  const nodes = [{ id: 'a', x: 0, y: 0 }, { id: 'b', x: 200, y: 0 }, { id: 'c', x: 200, y: 60 }, { id: 'd', x: 400, y: 30 }];
  test.each<[string, string, string | undefined]>([
    ['a', 'ArrowRight', 'b'], ['b', 'ArrowDown', 'c'], ['c', 'ArrowUp', 'b'], ['c', 'ArrowRight', 'd'], ['b', 'ArrowLeft', 'a'],
    ['a', 'ArrowLeft', undefined], ['d', 'Home', 'a'], ['a', 'End', 'd'], ['a', 'x', undefined], ['gone', 'ArrowUp', 'a'],
  ])('from %s %s reaches %s', (from, key, to) => expect(neighbour(nodes, from, key)).toBe(to));
});
