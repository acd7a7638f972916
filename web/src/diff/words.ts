/** A diff of two texts by words, as people read prose. Pure. */
export interface Piece {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** Beyond this many differing words, the middle is shown as replaced: nobody reads such a diff by words. */
const WORDS_LIMIT = 4_000;

export function diffWords(before: string, after: string): Piece[] {
  const a = cut(before);
  const b = cut(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const left = a.slice(head, a.length - tail);
  const right = b.slice(head, b.length - tail);
  const pieces: Piece[] = [];
  add(pieces, 'same', a.slice(0, head));
  if (left.length + right.length > WORDS_LIMIT) {
    add(pieces, 'removed', left);
    add(pieces, 'added', right);
  } else {
    for (const piece of myers(left, right)) add(pieces, piece.kind, [piece.text]);
  }
  add(pieces, 'same', a.slice(a.length - tail));
  return pieces;
}

/** Words, line breaks and runs of spaces or punctuation, each a token; joined they are the text again. */
function cut(text: string): string[] {
  return text.match(/\n|[^\S\n]+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function add(pieces: Piece[], kind: Piece['kind'], tokens: readonly string[]): void {
  if (tokens.length === 0) return;
  const last = pieces.at(-1);
  if (last?.kind === kind) last.text += tokens.join('');
  else pieces.push({ kind, text: tokens.join('') });
}

/** Myers' greedy algorithm: the shortest script of deletions and insertions. */
function myers(a: readonly string[], b: readonly string[]): Piece[] {
  const max = a.length + b.length;
  const trace: Int32Array[] = [];
  const ends = new Int32Array(2 * max + 2);
  for (let d = 0; d <= max; d += 1) {
    trace.push(ends.slice());
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (ends[max + k - 1] ?? 0) < (ends[max + k + 1] ?? 0));
      let x = down ? (ends[max + k + 1] ?? 0) : (ends[max + k - 1] ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
      }
      ends[max + k] = x;
      if (x >= a.length && y >= b.length) return backtrack(trace, a, b, max, d);
    }
  }
  return [];
}

function backtrack(trace: readonly Int32Array[], a: readonly string[], b: readonly string[], max: number, depth: number): Piece[] {
  const pieces: Piece[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = depth; d > 0; d -= 1) {
    const ends = trace[d] ?? new Int32Array();
    const k = x - y;
    const down = k === -d || (k !== d && (ends[max + k - 1] ?? 0) < (ends[max + k + 1] ?? 0));
    const fromK = down ? k + 1 : k - 1;
    const fromX = ends[max + fromK] ?? 0;
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY) pieces.push({ kind: 'same', text: a[(x -= 1, (y -= 1), x)] ?? '' });
    if (down) pieces.push({ kind: 'added', text: b[(y -= 1)] ?? '' });
    else pieces.push({ kind: 'removed', text: a[(x -= 1)] ?? '' });
  }
  while (x > 0 && y > 0) pieces.push({ kind: 'same', text: a[(x -= 1, (y -= 1), x)] ?? '' });
  return pieces.reverse();
}
