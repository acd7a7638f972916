import type { Kind, Scope } from '../api/client';

/** Words for kinds and scopes, in one place. */
export const KINDS: Record<Kind, { one: string; many: string }> = {
  persona: { one: 'persona', many: 'Personas' },
  part: { one: 'part', many: 'Parts' },
  trait: { one: 'trait', many: 'Traits' },
  skill: { one: 'skill', many: 'Skills' },
  guardrail: { one: 'guardrail', many: 'Guardrails' },
  arc: { one: 'arc', many: 'Arcs' },
  tool_preset: { one: 'tool preset', many: 'Tool presets' },
  bias_profile: { one: 'bias profile', many: 'Bias profiles' },
  context_preset: { one: 'context preset', many: 'Context presets' },
  test_input: { one: 'test input', many: 'Test inputs' },
};

export const KIND_NAMES = Object.keys(KINDS) as Kind[];

export function isKind(name: string | undefined): name is Kind {
  return name !== undefined && name in KINDS;
}

/** Strongest first. */
export const SCOPES: readonly Scope[] = ['project', 'global', 'shared', 'builtin'];

export const SCOPE_ABOUT: Record<Scope, string> = {
  project: "this project's personas.toml",
  global: 'your personas.toml, in every project',
  shared: 'the library in the database',
  builtin: 'ships with Masque; read-only',
};

export const PART_TYPES = [
  'system', 'agent', 'soul', 'identity', 'skill', 'specialization', 'tone', 'goal', 'context', 'protocol',
  'backstory', 'motivation', 'voice', 'archetype', 'flaw', 'relationship',
] as const;

export const TRAIT_TYPES = ['personality', 'cognitive', 'emotional', 'social', 'behavioral'] as const;

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;
