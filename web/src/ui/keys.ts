/** Keyboard shortcuts, pure: `mod` is ⌘ on a Mac and Ctrl elsewhere. */

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

export interface Binding {
  /** Such as `mod+k`, `alt+ArrowUp`, `/` or `?`. */
  keys: string;
  label: string;
  group: string;
  run: (event: KeyboardEvent) => void;
  /** False while it does nothing; the list of keys shows it nevertheless. */
  enabled?: () => boolean;
}

interface Combination {
  key: string;
  mod: boolean;
  alt: boolean;
  shift: boolean;
}

export function parseKeys(keys: string): Combination {
  const parts = keys.split('+');
  const key = keys.endsWith('++') ? '+' : (parts.at(-1) ?? '');
  const has = (name: string) => parts.slice(0, -1).includes(name);
  return { key: key.toLowerCase(), mod: has('mod'), alt: has('alt'), shift: has('shift') };
}

export function matches(keys: string, press: KeyPress, mac: boolean): boolean {
  const wanted = parseKeys(keys);
  const mod = mac ? press.metaKey : press.ctrlKey;
  const foreign = mac ? press.ctrlKey : press.metaKey;
  if (foreign || mod !== wanted.mod || press.altKey !== wanted.alt) return false;
  // Shift makes characters such as "?", so it only counts where the shortcut names a whole key.
  if (wanted.key.length > 1 || wanted.mod) {
    if (press.shiftKey !== wanted.shift) return false;
  }
  return press.key.toLowerCase() === wanted.key;
}

/** True if the shortcut must not fire while the reader types: it is a bare character. */
export function yieldsToTyping(keys: string): boolean {
  const { key, mod, alt } = parseKeys(keys);
  return !mod && !alt && key.length === 1;
}

/** The binding that answers a key press: the one added last wins, so that the topmost view does. */
export function choose(bindings: readonly Binding[], press: KeyPress, typing: boolean, mac: boolean): Binding | undefined {
  return bindings.findLast(
    (binding) =>
      matches(binding.keys, press, mac) && !(typing && yieldsToTyping(binding.keys)) && (binding.enabled?.() ?? true),
  );
}

const NAMES: Record<string, string> = { arrowup: '↑', arrowdown: '↓', arrowleft: '←', arrowright: '→', enter: '↵', escape: 'Esc' };

/** A shortcut for people: `⌘S` on a Mac, `Ctrl S` elsewhere. */
export function printKeys(keys: string, mac: boolean): string {
  const { key, mod, alt, shift } = parseKeys(keys);
  const name = NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key);
  const parts = [mod && (mac ? '⌘' : 'Ctrl'), alt && (mac ? '⌥' : 'Alt'), shift && (mac ? '⇧' : 'Shift'), name];
  return parts.filter(Boolean).join(mac ? '' : ' ');
}
