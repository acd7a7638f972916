import { Marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { BlockSplitter, hasDefinitions } from './blocks';

const TEXT = `# Title

One paragraph
in two lines.

- a list

- that is loose

  with a paragraph

1. numbers

2. go on

\`\`\`rust
fn main() {

    // an empty line and \`\`\`ticks\`\`\` inside
}
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> a quotation

\`\`\`one line\`\`\` is no fence

The end.`;

describe('blocks', () => {
  test('are parsed to the same HTML as the whole text', () => {
    const marked = new Marked({ gfm: true, async: false });
    const blocks = new BlockSplitter().blocks(TEXT);
    expect(blocks.length).toBe(7);
    expect(blocks.map((block) => marked.parse(block)).join('')).toBe(marked.parse(TEXT));
  });

  test('keep what is finished, however the text arrives', () => {
    for (const size of [1, 3, 7, 50]) {
      const splitter = new BlockSplitter();
      let before: readonly string[] = [];
      for (let end = size; end < TEXT.length + size; end += size) {
        const now = splitter.blocks(TEXT.slice(0, end));
        const finished = before.slice(0, -1);
        expect(now.slice(0, finished.length), `in pieces of ${size}`).toEqual(finished);
        expect(now.join('')).toBe(TEXT.slice(0, end));
        before = now;
      }
      expect(before).toEqual(new BlockSplitter().blocks(TEXT));
    }
  });

  test('an open fence is one block', () => {
    expect(new BlockSplitter().blocks('a\n\n```\nx\n\ny\n\nz')).toEqual(['a\n\n', '```\nx\n\ny\n\nz']);
  });

  test('another text starts again', () => {
    const splitter = new BlockSplitter();
    splitter.blocks('one\n\ntwo\n\nthree');
    expect(splitter.blocks('four\n\nfive\n')).toEqual(['four\n\n', 'five\n']);
    expect(splitter.blocks('')).toEqual([]);
  });

  test('definitions of links are seen', () => {
    expect(hasDefinitions('see [a]\n\n[a]: https://example.org')).toBe(true);
    expect(hasDefinitions('an array[0]: no')).toBe(false);
  });
});
