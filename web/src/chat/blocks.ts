/** Splits Markdown that still arrives into blocks. All but the last are finished: their text never
 * changes, so each is parsed once, and only the open one again per frame. */
export class BlockSplitter {
  #text = '';
  #finished: string[] = [];
  /** Where the open block begins, and where the first line that was not read yet does. */
  #start = 0;
  #read = 0;
  #fence = '';
  #gap = false;
  #list = false;

  /** The blocks of the whole text so far. Reads only what is new, if `text` continues the last one. */
  blocks(text: string): readonly string[] {
    if (!text.startsWith(this.#text)) this.#reset();
    this.#text = text;
    for (;;) {
      const end = text.indexOf('\n', this.#read);
      if (end < 0) break;
      this.#line(text.slice(this.#read, end), this.#read);
      this.#read = end + 1;
    }
    const open = text.slice(this.#start);
    return open === '' ? this.#finished : [...this.#finished, open];
  }

  #reset(): void {
    this.#finished = [];
    this.#start = 0;
    this.#read = 0;
    this.#fence = '';
    this.#gap = false;
    this.#list = false;
  }

  #line(line: string, at: number): void {
    if (this.#fence !== '') {
      if (closes(line, this.#fence)) this.#fence = '';
      return;
    }
    if (line.trim() === '') {
      this.#gap = true;
      return;
    }
    // After an empty line, an indented line and another item continue a list.
    const item = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line);
    const continues = /^(?: {2,}|\t)/.test(line) || (item && this.#list);
    if (this.#gap && !continues && at > this.#start) {
      this.#finished = [...this.#finished, this.#text.slice(this.#start, at)];
      this.#start = at;
      this.#list = item;
    } else if (at === this.#start) this.#list = item;
    this.#gap = false;
    this.#fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (this.#fence.startsWith('`') && line.slice(line.indexOf(this.#fence) + this.#fence.length).includes('`')) this.#fence = '';
  }
}

function closes(line: string, fence: string): boolean {
  const mark = /^\s*(`{3,}|~{3,})\s*$/.exec(line)?.[1];
  return mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length;
}

/** True if blocks refer to each other by link definitions, so that only the whole text has its links. */
export function hasDefinitions(text: string): boolean {
  return /^ {0,3}\[[^\]\n]+\]:\s*\S/m.test(text);
}
