/** What is typed on the way to a track. It survives a reload and a crash, until the track is created. */

export interface TrackDraft {
  toml: string;
  epic: string;
  /** True if a model wrote the text. */
  drafted: boolean;
}

const KEY = 'masque-track-draft';
const EMPTY: TrackDraft = { toml: '', epic: '', drafted: false };

/** A kept text of another version of the page, or of anybody else, counts as far as it fits. */
export function parseDraft(text: string | null): TrackDraft {
  if (text === null) return EMPTY;
  try {
    const found = JSON.parse(text) as Partial<Record<keyof TrackDraft, unknown>> | null;
    return {
      toml: typeof found?.toml === 'string' ? found.toml : '',
      epic: typeof found?.epic === 'string' ? found.epic : '',
      drafted: found?.drafted === true,
    };
  } catch {
    return EMPTY;
  }
}

export function readDraft(): TrackDraft {
  return parseDraft(localStorage.getItem(KEY));
}

/** Keeps what changed. A text that a person replaces is no model's any more. */
export function keepDraft(change: Partial<TrackDraft>): void {
  const next = { ...readDraft(), ...(change.toml !== undefined ? { drafted: false } : {}), ...change };
  try {
    if (next.toml === '' && next.epic === '') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // A text beyond the room of the browser stays on the page alone.
  }
}

export function dropDraft(): void {
  localStorage.removeItem(KEY);
}
