/** A diff of two texts by lines or by words, pure. */
export interface Piece {
  side: 'same' | 'out' | 'in';
  text: string;
}

/** Above this many comparisons the middle counts as replaced: a reader would not follow it anyway. */
const LIMIT = 4_000_000;

export function diffLines(before: string, after: string): Piece[] {
  return diff(lines(before), lines(after));
}

/** By words, with the space after each; neighbouring pieces of one side are joined. */
export function diffWords(before: string, after: string): Piece[] {
  const joined: Piece[] = [];
  for (const piece of diff(words(before), words(after))) {
    const last = joined.at(-1);
    if (last?.side === piece.side) last.text += piece.text;
    else joined.push({ ...piece });
  }
  return joined;
}

function lines(text: string): string[] {
  if (text === '') return [];
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  return all;
}

function words(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function diff(before: readonly string[], after: readonly string[]): Piece[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const same = (part: readonly string[]): Piece[] => part.map((text) => ({ side: 'same', text }));
  return [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

function middle(before: readonly string[], after: readonly string[]): Piece[] {
  const out = (text: string): Piece => ({ side: 'out', text });
  const into = (text: string): Piece => ({ side: 'in', text });
  if (before.length === 0 || after.length === 0 || before.length * after.length > LIMIT) {
    return [...before.map(out), ...after.map(into)];
  }
  // The longest common subsequence of every pair of tails.
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      longest[at] =
        before[i] === after[j] ? longest[at + width + 1]! + 1 : Math.max(longest[at + width]!, longest[at + 1]!);
    }
  }
  const pieces: Piece[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length && j < after.length) {
    const at = i * width + j;
    if (before[i] === after[j]) {
      pieces.push({ side: 'same', text: before[i]! });
      i += 1;
      j += 1;
    } else if (longest[at + width]! >= longest[at + 1]!) pieces.push(out(before[i++]!));
    else pieces.push(into(after[j++]!));
  }
  return [...pieces, ...before.slice(i).map(out), ...after.slice(j).map(into)];
}

export interface Hunk {
  pieces: Piece[];
  /** Unchanged lines between this hunk and the one before. */
  skipped: number;
}

/** Only what changed, with some unchanged lines around it. */
export function hunks(pieces: readonly Piece[], around = 3): { hunks: Hunk[]; after: number } {
  const keep = new Uint8Array(pieces.length);
  pieces.forEach((piece, at) => {
    if (piece.side === 'same') return;
    keep.fill(1, Math.max(0, at - around), Math.min(pieces.length, at + around + 1));
  });
  const found: Hunk[] = [];
  let skipped = 0;
  let open: Hunk | undefined;
  pieces.forEach((piece, at) => {
    if (keep[at] === 0) {
      skipped += 1;
      open = undefined;
      return;
    }
    if (!open) {
      open = { pieces: [], skipped };
      skipped = 0;
      found.push(open);
    }
    open.pieces.push(piece);
  });
  return { hunks: found, after: skipped };
}
