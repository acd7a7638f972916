import type { GraphLabel, Layouter } from './layout';

/** The graph of a track's dependencies, pure: which tickets are drawn, where, and which one an arrow key reaches.
 * Places depend on the tickets and their links alone, so the graph stays still while states change. */

export interface Link {
  from: string;
  to: string;
  /** True for a part or a resolver that came on the way. */
  added: boolean;
}

export interface Point {
  x: number;
  y: number;
}

export interface Placed extends Point {
  id: string;
}

export interface Drawing {
  width: number;
  height: number;
  nodes: Placed[];
  edges: (Link & { points: Point[] })[];
}

export const NODE_WIDTH = 168;
export const NODE_HEIGHT = 44;
/** More tickets are no picture any more: only the surroundings of one are drawn. */
export const MOST_NODES = 160;
const SPACE: GraphLabel = { rankdir: 'LR', nodesep: 16, ranksep: 48, marginx: 8, marginy: 8 };

/** The tickets that are drawn: all, or those around `centre`, the nearest first. */
export function drawn(ids: readonly string[], links: readonly Link[], centre: string | undefined): string[] {
  if (ids.length <= MOST_NODES) return [...ids];
  const start = centre !== undefined && ids.includes(centre) ? centre : ids[0];
  if (start === undefined) return [];
  const near = new Map<string, string[]>();
  for (const { from, to } of links) {
    near.set(from, [...(near.get(from) ?? []), to]);
    near.set(to, [...(near.get(to) ?? []), from]);
  }
  const seen = new Set([start]);
  const queue = [start];
  for (let at = 0; at < queue.length && seen.size < MOST_NODES; at += 1) {
    for (const next of near.get(queue[at] ?? '') ?? []) {
      if (seen.size < MOST_NODES && !seen.has(next)) (seen.add(next), queue.push(next));
    }
  }
  return ids.filter((id) => seen.has(id));
}

/** Equal for graphs with equal places. */
export function shapeOf(ids: readonly string[], links: readonly Link[]): string {
  const edges = links.map(({ from, to, added }) => `${from}${added ? '~' : '>'}${to}`).toSorted();
  return `${ids.toSorted().join(' ')}|${edges.join(' ')}`;
}

/** Places the tickets, left to right. Tickets and links go in sorted, so that their order on the board moves nothing. */
export function draw(layouter: Layouter, ids: readonly string[], links: readonly Link[]): Drawing {
  const known = new Set(ids);
  const edges = links.filter(({ from, to }) => known.has(from) && known.has(to));
  const sorted = edges.toSorted((a, b) => natural(a.from, b.from) || natural(a.to, b.to));
  const nodes = ids.toSorted(natural).map((id) => ({ id, width: NODE_WIDTH, height: NODE_HEIGHT }));
  const drawing = layouter(SPACE, nodes, sorted);
  const places = new Map(drawing.nodes.map((node) => [node.id, node]));
  return { ...drawing, edges: drawing.edges.map((edge) => ({ ...edge, points: attached(edge.points, places.get(edge.from), places.get(edge.to)) })) };
}

/** An edge leaves its ticket in the middle of the right side, and arrives in the middle of the left side. */
function attached(points: readonly Point[], from: Point | undefined, to: Point | undefined): Point[] {
  if (!from || !to) return [...points];
  return [{ x: from.x + NODE_WIDTH / 2, y: from.y }, ...points.slice(1, -1), { x: to.x - NODE_WIDTH / 2, y: to.y }];
}

/** `T2` before `T10`. */
export function natural(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** The path of an edge: a curve through its points that leaves and reaches each of them to the side. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first || rest.length === 0) return '';
  const parts = [`M${first.x} ${first.y}`];
  let last = first;
  for (const point of rest) {
    const middle = (last.x + point.x) / 2;
    parts.push(last.y === point.y ? `L${point.x} ${point.y}` : `C${middle} ${last.y} ${middle} ${point.y} ${point.x} ${point.y}`);
    last = point;
  }
  return parts.join('');
}

/** The ticket that an arrow key moves to: the nearest one in its direction, those in line before those aside. */
export function neighbour(nodes: readonly Placed[], from: string, key: string): string | undefined {
  const here = nodes.find(({ id }) => id === from);
  if (!here) return nodes[0]?.id;
  if (key === 'Home' || key === 'End') {
    const sorted = nodes.toSorted((a, b) => a.x - b.x || a.y - b.y);
    return (key === 'Home' ? sorted[0] : sorted.at(-1))?.id;
  }
  const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (!direction) return undefined;
  const [dx = 0, dy = 0] = direction;
  let best: { id: string; distance: number } | undefined;
  for (const { id, x, y } of nodes) {
    const along = (x - here.x) * dx + (y - here.y) * dy;
    const aside = Math.abs((x - here.x) * dy) + Math.abs((y - here.y) * dx);
    if (along <= 1) continue;
    // A step up or down stays in its column where it can.
    const distance = along + (dy === 0 ? 1 : 4) * aside;
    if (!best || distance < best.distance) best = { id, distance };
  }
  return best?.id;
}
