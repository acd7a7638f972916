/** Fields of an entity that one control edits together: a lock holds all of them. */
const TOGETHER: Record<string, readonly string[]> = {
  system_prompt: ['system_prompt_mode'],
  parts: ['parts_mode', 'remove_parts'],
  traits: ['remove_traits'],
  skills: ['remove_skills'],
  guardrails: ['remove_guardrails'],
  test_inputs: ['remove_test_inputs'],
  tags: ['remove_tags'],
};

/** The fields that a control edits. Only personas have what combines a field with the base's. */
export function fieldsOf(kind: string, field: string): readonly string[] {
  return kind === 'persona' ? [field, ...(TOGETHER[field] ?? [])] : [field];
}
