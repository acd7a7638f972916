import { toasts } from './toasts.svelte';

/** Puts a text into the clipboard, and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toasts.done(`${what} is in the clipboard.`);
  } catch {
    toasts.fail('The browser does not let the page write into the clipboard. Select the text and copy it.');
  }
}
