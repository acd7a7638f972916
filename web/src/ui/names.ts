/** The rule for names, as the server has it, so that a mistake shows while typing. */
export const NAME_LIMIT = 64;

export function nameFault(name: string): string | undefined {
  if (name === '') return 'A name is required.';
  if (name.length > NAME_LIMIT) return `A name has at most ${NAME_LIMIT} characters.`;
  const wrong = /[^A-Za-z0-9_-]/.exec(name);
  if (wrong) return `A name has letters, digits, “_” and “-”; “${wrong[0]}” is none of them.`;
  if (!/^[A-Za-z0-9]/.test(name)) return 'A name begins with a letter or a digit.';
  return undefined;
}

/** A name made of what a person typed: `Code Reviewer` → `code_reviewer`. */
export function suggestName(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '_')
    .replace(/^[_-]+|_+$/g, '')
    .slice(0, NAME_LIMIT);
}
