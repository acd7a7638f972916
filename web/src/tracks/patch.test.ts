import { describe, expect, it } from 'vitest';
import { patches } from './patch';

const DIFF = `diff --git a/src/a.rs b/src/a.rs
index 1111..2222 100644
--- a/src/a.rs
+++ b/src/a.rs
@@ -1,3 +1,3 @@ fn main() {
 same
--- not a header
+++ nor this
\\ No newline at end of file
diff --git a/new.txt b/new.txt
new file mode 100644
index 0000..3333
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+hello
diff --git "a/caf\\303\\251.txt" "b/caf\\303\\251.txt"
deleted file mode 100644
Binary files differ
`;

describe('patches', () => {
  it('cuts a diff into files', () => {
    expect(patches(DIFF).map((file) => file.path)).toEqual(['src/a.rs', 'new.txt', 'caf\\303\\251.txt']);
  });

  it('tells lines of a hunk from headers that look alike', () => {
    expect(patches(DIFF)[0]?.lines.map(({ kind }) => kind)).toEqual(['hunk', 'same', 'removed', 'added', 'note']);
  });

  it('keeps what git says about a file', () => {
    expect(patches(DIFF)[1]?.lines[0]).toEqual({ kind: 'note', text: 'new file mode 100644' });
    expect(patches(DIFF)[2]?.lines.map(({ text }) => text)).toEqual(['deleted file mode 100644', 'Binary files differ']);
  });

  it('has no files for an empty diff', () => {
    expect(patches('')).toEqual([]);
    expect(patches('garbage\n+x')).toEqual([]);
  });
});
