import { expect, test } from 'vitest';
import { nameFault, suggestName } from './names';

test.each(['a', 'code_reviewer', '7-up', 'A'.repeat(64)])('%s is a name', (name) => expect(nameFault(name)).toBeUndefined());
test.each(['', '_a', '-a', 'a b', 'é', 'a/b', 'A'.repeat(65)])('%j is none, and the fault says why', (name) =>
  expect(nameFault(name)).toMatch(/^A name/),
);

test('suggests a name that the rule accepts', () => {
  for (const text of ['Code Reviewer', '  Élan vital! ', '--x--', 'a'.repeat(99)]) expect(nameFault(suggestName(text))).toBeUndefined();
  expect(suggestName('Code Reviewer')).toBe('code_reviewer');
  expect(suggestName('Élan vital!')).toBe('elan_vital');
});
