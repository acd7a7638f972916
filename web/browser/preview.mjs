// Stands in for `POST /api/preview` on a server without it, in the shape that the page expects: enough
// of an assembly to have blocks of every layer, budget points and a problem.
export async function answerPreview(api, body) {
  const get = async (path) => (await fetch(api + path)).json();
  const { entity } = body;
  const base = entity.extends ? await get(`/api/library/persona/${entity.extends.split(':').at(-1)}`) : undefined;
  const blocks = [];
  let line = 1;
  const push = (block) => {
    blocks.push({ heading: null, hash: block.text, form: 'whole', first_line: line, tokens: Math.ceil(block.text.length / 4.2), ...block });
    line += block.text.split('\n').length - 1;
  };
  const prompt = (persona, layer, scope) => push({ id: `${layer}:prompt`, kind: 'persona', name: persona.name, field: 'system_prompt', layer, base: layer === 'base' ? persona.name : undefined, scope, text: `${persona.system_prompt}\n\n` });
  if (base?.system_prompt && (entity.system_prompt_mode === 'append' || !entity.system_prompt)) prompt(base, 'base', base.scope);
  if (entity.system_prompt) prompt(entity, 'own', body.scope ?? 'shared');

  const RANK = { base: 0, own: 1, stage: 2, override: 3 };
  const linked = (list, layer) => (list ?? []).map((part) => ({ layer, priority: 0, ...(typeof part === 'string' ? { name: part } : part) }));
  const links = [
    ...linked(base?.parts, 'base').filter((part) => !(entity.remove_parts ?? []).includes(part.name)),
    ...linked(entity.parts, 'own').sort((a, b) => (a.order ?? 0) - (b.order ?? 0)),
    ...linked(body.stage ? [`${body.stage}-tone`] : [], 'stage'),
    ...linked(Object.values(body.overrides ?? {}), 'override'),
  ];
  const found = (await Promise.all(links.map(async (link) => ({ link, part: await get(`/api/library/part/${link.name}`) })))).filter(({ part }) => part.name);
  const strongest = {};
  for (const { link, part } of found) strongest[part.part_type] = Math.max(strongest[part.part_type] ?? 0, RANK[link.layer]);
  const kept = found.filter(({ link, part }) => RANK[link.layer] === strongest[part.part_type]);
  for (const { link, part } of kept) {
    const text = `## ${part.part_type}\n\n${part.content ?? part.summary ?? part.description}\n\n`;
    push({ id: `part:${part.name}`, kind: 'part', name: part.name, part_type: part.part_type, layer: link.layer, base: link.layer === 'base' ? base.name : undefined, scope: part.scope, text });
  }
  const total = blocks.reduce((sum, block) => sum + block.tokens, 0);
  const dropping = kept.toSorted((a, b) => a.link.priority - b.link.priority).map(({ part }) => blocks.find((block) => block.id === `part:${part.name}`));
  const points = dropping.map((_, at) => {
    const out = dropping.slice(0, at + 1);
    const tokens = total - out.reduce((sum, block) => sum + block.tokens, 0);
    return { max_tokens: tokens + 5, tokens, left_out: out.map((block) => block.id) };
  });
  const point = body.max_tokens && points.find((one) => one.max_tokens <= body.max_tokens);
  const gone = new Set(point?.left_out ?? []);
  const problems = [...(entity.system_prompt ?? '').matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => ({
    rule: 'unfilled-placeholder', level: 'warning', message: `nothing fills in {{${name}}}`, field: 'system_prompt',
  }));
  return {
    tokens: { total: point ? point.tokens : total, counter: 'o200k_base', exact: false },
    blocks: blocks.filter((block) => !gone.has(block.id)),
    left_out: blocks.filter((block) => gone.has(block.id)).map(({ kind, name, tokens }) => ({ kind, name, tokens, reason: 'budget' })),
    over_budget: false,
    budget_points: points,
    stage: body.stage,
    problems,
  };
}
