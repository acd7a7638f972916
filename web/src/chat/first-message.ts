/** The first message to the editing agent of a persona that was just made from a description. It waits for
 * the chat bar of that persona, which takes it once: a reload must not send it again. */
const KEY = 'masque-first-message-';

export function leaveMessage(personaId: string, message: string): void {
  sessionStorage.setItem(KEY + personaId, message);
}

export function takeMessage(personaId: string): string | undefined {
  const message = sessionStorage.getItem(KEY + personaId) ?? undefined;
  sessionStorage.removeItem(KEY + personaId);
  return message;
}
