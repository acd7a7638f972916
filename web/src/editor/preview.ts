import { api, ask, type Body, type Schemas } from '../api/client';
import { isKind } from '../ui/kinds';

export type Preview = Schemas['PersonaPreview'];

/** One piece of the assembled text. The texts of all blocks, one after the other, are exactly what the model
 * gets. */
export type Block = Preview['blocks'][number];
export type LeftOut = Preview['left_out'][number];
export type BudgetPoint = Preview['budget_points'][number];
export type DraftProblem = Schemas['LintFinding'];

export type PreviewRequest = Body<'/api/preview'>;
/** An unsaved piece, in place of the stored one. */
export type PieceDraft = NonNullable<PreviewRequest['pieces']>[number];

/** The server's own assembly of an unsaved definition. Writes nothing. */
export async function loadPreview(wanted: PreviewRequest, signal: AbortSignal): Promise<Preview> {
  return (await ask(api.POST('/api/preview', { body: { detail: true, ...wanted }, signal }))).data;
}

/** Takes over the blocks that did not change, so that only changed ones are drawn again. */
export function reuseBlocks(before: readonly Block[], after: readonly Block[]): Block[] {
  const known = new Map(before.map((block) => [block.id, block]));
  return after.map((block) => {
    const old = known.get(block.id);
    const same = old && old.hash === block.hash && old.text === block.text && old.layer === block.layer && old.first_line === block.first_line;
    return same ? old : block;
  });
}

/** The ids of blocks that are new or have another text than before. */
export function changedBlocks(before: readonly Block[], after: readonly Block[]): string[] {
  const texts = new Map(before.map((block) => [block.id, block.text]));
  return after.filter((block) => texts.get(block.id) !== block.text).map((block) => block.id);
}

/** `1,482 · exact`, or `≈ 1,482 · o200k_base`. */
export function tokensText(tokens: Preview['tokens']): string {
  const total = tokens.total.toLocaleString('en-US');
  return tokens.exact ? `${total} · exact` : `≈ ${total} · ${tokens.counter}`;
}

const PLACEHOLDER = /\{\{\s*[\w.-]+\s*\}\}/g;

/** Placeholders that stand in the assembled text: nothing fills them in. One problem for each name and place. */
export function placeholderProblems(blocks: readonly Block[]): DraftProblem[] {
  return blocks.flatMap((block) => {
    const found = new Set([...block.text.matchAll(PLACEHOLDER)].map(([text]) => text.replace(/\s/g, '')));
    const piece = isKind(block.kind) && block.kind !== 'persona' ? block.kind : undefined;
    return [...found].map((text) => ({
      rule: 'unresolved-placeholder',
      level: 'warning' as const,
      message: `nothing fills in ${text}`,
      ...(piece ? { kind: piece, name: block.name } : { field: block.kind === 'example' ? 'examples' : (block.field ?? 'system_prompt') }),
    }));
  });
}

/** A text cut at its placeholders, which are drawn underlined. */
export function cutPlaceholders(text: string): { text: string; placeholder: boolean }[] {
  const pieces: { text: string; placeholder: boolean }[] = [];
  let at = 0;
  for (const found of text.matchAll(PLACEHOLDER)) {
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), placeholder: false });
    pieces.push({ text: found[0], placeholder: true });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), placeholder: false });
  return pieces;
}
