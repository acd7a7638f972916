import { untrack, type Component } from 'svelte';

/** Something the palette can do. Places and entities come from elsewhere; these come from views. */
export interface Action {
  id: string;
  label: string;
  /** Words to find it by, besides the label. */
  words?: string;
  keys?: string;
  icon?: Component;
  run: () => void;
}

class Actions {
  groups = $state.raw<readonly (() => Action[])[]>([]);

  all(): Action[] {
    return this.groups.flatMap((group) => group());
  }
}

export const actions = new Actions();

/** Offers actions in the palette for as long as the calling component is mounted. */
export function useActions(group: () => Action[]): void {
  $effect(() => {
    untrack(() => (actions.groups = [...actions.groups, group]));
    return () => untrack(() => (actions.groups = actions.groups.filter((other) => other !== group)));
  });
}
