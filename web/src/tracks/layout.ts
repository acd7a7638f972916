import { Graph, layout } from '@dagrejs/dagre';
import type { Drawing, Link } from './graph';

/** dagre, behind one function. The page loads this module when it draws its first graph. */

export interface GraphLabel {
  rankdir: 'LR';
  nodesep: number;
  ranksep: number;
  marginx: number;
  marginy: number;
}

export type Layouter = (space: GraphLabel, nodes: readonly { id: string; width: number; height: number }[], links: readonly Link[]) => Drawing;

export const layouter: Layouter = (space, nodes, links) => {
  const graph = new Graph();
  graph.setGraph(space);
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const { from, to } of links) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    nodes: nodes.map(({ id }) => ({ id, x: Math.round(graph.node(id).x), y: Math.round(graph.node(id).y) })),
    edges: links.map((link) => ({ ...link, points: graph.edge(link.from, link.to).points ?? [] })),
  };
};
