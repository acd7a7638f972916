import { loadMarkdown } from '../ui/markdown';

/** Markdown to safe HTML, once its libraries are here; `undefined` until then. */
class Renderer {
  html = $state.raw<((text: string) => string) | undefined>();
  #asked = false;

  load(): void {
    if (this.#asked) return;
    this.#asked = true;
    loadMarkdown().then(
      (html) => (this.html = html),
      // Without them a text is shown as it is; the next text tries again.
      () => (this.#asked = false),
    );
  }
}

export const renderer = new Renderer();
