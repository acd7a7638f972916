/** Tabs of a persona, in order. A tab is a place of its own, so its address is below the persona's. */
export interface PersonaTab {
  label: string;
  /** Appended to the persona's address; '' is the editor. */
  path: string;
  place: string;
}

export const personaTabs: readonly PersonaTab[] = [
  { label: 'Write', path: '', place: 'persona' },
  { label: 'History', path: '/history', place: 'persona-history' },
  { label: 'Tests', path: '/tests', place: 'persona-tests' },
];
