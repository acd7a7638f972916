import { untrack } from 'svelte';
import { choose, printKeys, type Binding } from './keys';

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

class Keyboard {
  bindings = $state.raw<readonly Binding[]>([]);

  start(): void {
    addEventListener('keydown', (event) => {
      if (event.defaultPrevented || event.isComposing) return;
      const binding = choose(this.bindings, event, isTyping(event.target), isMac);
      if (!binding) return;
      event.preventDefault();
      binding.run(event);
    });
  }

  add(bindings: readonly Binding[]): () => void {
    this.bindings = [...this.bindings, ...bindings];
    return () => {
      this.bindings = this.bindings.filter((binding) => !bindings.includes(binding));
    };
  }
}

export const keyboard = new Keyboard();

/** Adds shortcuts for as long as the calling component is mounted. */
export function useKeys(bindings: readonly Binding[]): void {
  $effect(() => {
    const remove = untrack(() => keyboard.add(bindings));
    return () => untrack(remove);
  });
}

export function keysText(keys: string): string {
  return printKeys(keys, isMac);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && !['checkbox', 'radio', 'range', 'button'].includes(target.type);
}
