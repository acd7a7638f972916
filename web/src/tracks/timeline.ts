import { stints } from './board';
import type { TicketBoard } from './types';

/** Who worked when, pure: attempts and reviews as spans in lanes, one lane for each persona, more where it worked
 * several tickets at once. A long time without work takes little room, and says how long it was. */

export type SpanKind = 'attempt' | 'review';

export interface Span {
  key: string;
  ticket: string;
  kind: SpanKind;
  number: number;
  who: string;
  model: string;
  from: number;
  to: number;
  /** True while it goes on. */
  open: boolean;
  failed: boolean;
  /** Shares of the width, from 0 to 1. */
  left: number;
  width: number;
}

export interface Lane {
  key: string;
  who: string;
  /** False for further lanes of the same persona. */
  first: boolean;
  spans: Span[];
}

export interface Gap {
  left: number;
  width: number;
  ms: number;
}

export interface Tick {
  left: number;
  at: number;
}

export interface Timeline {
  lanes: Lane[];
  gaps: Gap[];
  ticks: Tick[];
  from: number;
  to: number;
}

/** A gap that is cut is longer than this, and than this share of the work. */
const GAP_MS = 60_000;
const GAP_SHARE = 0.2;
/** The room of a gap that is cut, as a share of the work. */
const GAP_ROOM = 0.04;
const TICKS = 5;
const NOBODY = 'without a persona';

export function timelineOf(tickets: readonly TicketBoard[], now: number): Timeline {
  const raw = tickets.flatMap((ticket) => spansOf(ticket, now)).toSorted((a, b) => a.from - b.from || a.key.localeCompare(b.key));
  if (raw.length === 0) return { lanes: [], gaps: [], ticks: [], from: now, to: now };
  const scale = scaleOf(raw);
  const spans = raw.map((span) => {
    const left = scale.place(span.from);
    return { ...span, left, width: scale.place(span.to) - left };
  });
  return { lanes: lanesOf(spans), gaps: scale.gaps, ticks: scale.ticks, from: scale.from, to: scale.to };
}

function spansOf(ticket: TicketBoard, now: number): Span[] {
  return stints(ticket).map((stint) => {
    const from = Date.parse(stint.began_at);
    const open = stint.ended_at == null;
    return {
      key: `${ticket.id}:${stint.kind}:${stint.number}`,
      ticket: ticket.id,
      kind: stint.kind,
      number: stint.number,
      who: stint.persona ?? NOBODY,
      model: stint.model,
      from,
      to: Math.max(from, open ? now : Date.parse(stint.ended_at ?? '')),
      open,
      failed: stint.fault != null || (stint.kind === 'attempt' ? stint.ruling === 'rejected' : stint.verdict === 'block'),
      left: 0,
      width: 0,
    };
  });
}

/** Each persona's spans in as few lanes as hold them without an overlap. */
function lanesOf(spans: readonly Span[]): Lane[] {
  const byWho = new Map<string, Span[][]>();
  for (const span of spans) {
    const lanes = byWho.get(span.who) ?? [];
    const free = lanes.find((lane) => (lane.at(-1)?.to ?? 0) <= span.from);
    if (free) free.push(span);
    else lanes.push([span]);
    byWho.set(span.who, lanes);
  }
  return [...byWho].flatMap(([who, lanes]) => lanes.map((lane, at) => ({ key: `${who}:${at}`, who, first: at === 0, spans: lane })));
}

/** Time as a share of the width: stretches of work in proportion, long gaps between them cut. */
function scaleOf(spans: readonly Span[]) {
  const stretches: { from: number; to: number }[] = [];
  for (const { from, to } of spans) {
    const last = stretches.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else stretches.push({ from, to });
  }
  const worked = Math.max(1, stretches.reduce((sum, { from, to }) => sum + to - from, 0));
  const isCut = (ms: number) => ms > GAP_MS && ms > worked * GAP_SHARE;
  /** Moments, and how far each is along the axis, in milliseconds. */
  const stops: { at: number; along: number }[] = [];
  const cut: { at: number; along: number; ms: number }[] = [];
  let along = 0;
  for (const [index, { from, to }] of stretches.entries()) {
    const before = stretches[index - 1];
    if (before) {
      const ms = from - before.to;
      if (isCut(ms)) cut.push({ at: before.to, along, ms });
      along += isCut(ms) ? worked * GAP_ROOM : ms;
    }
    stops.push({ at: from, along });
    along += to - from;
    stops.push({ at: to, along });
  }
  const total = Math.max(1, along);
  const place = (at: number): number => {
    const next = stops.findIndex((stop) => stop.at >= at);
    const right = stops[next];
    const left = stops[next - 1];
    if (!right) return 1;
    if (!left || right.at === left.at) return right.along / total;
    return (left.along + ((at - left.at) / (right.at - left.at)) * (right.along - left.along)) / total;
  };
  const timeAt = (share: number): number => {
    const wanted = share * total;
    const next = stops.findIndex((stop) => stop.along >= wanted);
    const right = stops[next] ?? stops.at(-1);
    const left = stops[next - 1];
    if (!right) return 0;
    if (!left || right.along === left.along) return right.at;
    return left.at + ((wanted - left.along) / (right.along - left.along)) * (right.at - left.at);
  };
  const from = stops[0]?.at ?? 0;
  const to = stops.at(-1)?.at ?? 0;
  const gaps = cut.map((gap) => ({ left: gap.along / total, width: (worked * GAP_ROOM) / total, ms: gap.ms }));
  const ticks = Array.from({ length: TICKS }, (_, at) => ({ left: at / (TICKS - 1), at: Math.round(timeAt(at / (TICKS - 1))) }));
  return { place, gaps, ticks, from, to };
}

/** The span that an arrow key moves to: along its lane, or the nearest one of the lane above or below. */
export function spanBeside(lanes: readonly Lane[], key: string, arrow: string): string | undefined {
  const row = lanes.findIndex(({ spans }) => spans.some((span) => span.key === key));
  const lane = lanes[row];
  const at = lane?.spans.findIndex((span) => span.key === key) ?? -1;
  const span = lane?.spans[at];
  if (!lane || !span) return lanes[0]?.spans[0]?.key;
  if (arrow === 'ArrowLeft') return lane.spans[at - 1]?.key;
  if (arrow === 'ArrowRight') return lane.spans[at + 1]?.key;
  const other = arrow === 'ArrowUp' ? lanes[row - 1] : arrow === 'ArrowDown' ? lanes[row + 1] : undefined;
  return other?.spans.toSorted((a, b) => Math.abs(a.from - span.from) - Math.abs(b.from - span.from))[0]?.key;
}
