import { api, ask, type ListItem } from '../api/client';
import { Problem } from '../api/problem';

/** The templates that the server offers; on a server without that list, the builtin personas. */
export async function loadTemplates(): Promise<ListItem[]> {
  try {
    const { data } = await ask(api.GET('/api/templates'));
    return data.items.map((item) => ({ ...item, kind: 'persona', scope: item.scope ?? 'builtin' }));
  } catch (error) {
    if (!(error instanceof Problem) || !error.unsupported) throw error;
    const params = { path: { kind: 'persona' as const }, query: { scope: 'builtin' as const, limit: 100 } };
    return (await ask(api.GET('/api/library/{kind}', { params }))).data.items;
  }
}
