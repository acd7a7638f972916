import type { Doc } from './doc';

/** Tables inside a definition as rows for the form, and back. Fields that the form does not show stay
 * with their row. */
export interface Row {
  [field: string]: unknown;
}

/** `{read: [{name, …}], write: [...]}` → one row per tool, with its category. */
export function categoryRows(categories: unknown): Row[] {
  return Object.entries((categories ?? {}) as Record<string, unknown[]>).flatMap(([category, tools]) =>
    tools.map((tool) => (typeof tool === 'string' ? { category, name: tool } : { category, ...(tool as Row) })),
  );
}

export function categoriesOf(rows: readonly Row[]): Doc {
  const result: Record<string, Row[]> = {};
  for (const { category, ...tool } of rows) {
    const key = String(category ?? '').trim();
    (result[key] ??= []).push(tool);
  }
  return result;
}

/** `{read: 2}` → rows of key and value. */
export function pairRows(table: unknown): Row[] {
  return Object.entries((table ?? {}) as Record<string, unknown>).map(([key, value]) => ({ key, value }));
}

export function pairsOf(rows: readonly Row[]): Doc {
  return Object.fromEntries(rows.map(({ key, value }) => [String(key ?? '').trim(), value]));
}
