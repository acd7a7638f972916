/** A diff as git writes it, cut into files and lines. */

export type LineKind = 'hunk' | 'added' | 'removed' | 'same' | 'note';
export interface PatchLine { kind: LineKind; text: string }
export interface FilePatch { path: string; lines: PatchLine[] }

const HEADERS = ['index ', '--- ', '+++ ', 'similarity index ', 'old mode ', 'new mode '];

/** The path behind `b/` of a file's first line. Git quotes unusual ones. */
function pathOf(line: string): string {
  const quoted = / "b\/((?:[^"\\]|\\.)*)"$/.exec(line);
  if (quoted) return quoted[1] ?? '';
  const plain = / b\/(.*)$/.exec(line);
  return plain?.[1] ?? line;
}

/** The files of a diff. Lines before the first file are dropped. */
export function patches(diff: string): FilePatch[] {
  const files: FilePatch[] = [];
  let inHunk = false;
  for (const text of diff.split('\n')) {
    if (text.startsWith('diff --git ')) {
      files.push({ path: pathOf(text), lines: [] });
      inHunk = false;
      continue;
    }
    const file = files.at(-1);
    if (!file || text === '') continue;
    if (text.startsWith('@@')) {
      inHunk = true;
      file.lines.push({ kind: 'hunk', text });
    } else if (inHunk) {
      const mark = text[0];
      const kind = mark === '+' ? 'added' : mark === '-' ? 'removed' : mark === ' ' ? 'same' : 'note';
      file.lines.push({ kind, text });
    } else if (!HEADERS.some((header) => text.startsWith(header))) {
      file.lines.push({ kind: 'note', text });
    }
  }
  return files;
}
