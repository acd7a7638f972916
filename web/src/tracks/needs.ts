import type { Account, Cap, Need } from './types';

/** What a person can do about a need, pure. The first one is what usually helps. */

export type Deed = 'answer' | 'accept' | 'reject' | 'approve' | 'approve_step' | 'cap' | 'uncap' | 'retry' | 'cancel';

const DEEDS: Record<Need['need'], readonly Deed[]> = {
  answer: ['answer', 'retry', 'cancel'],
  unblock: ['answer', 'retry', 'cancel'],
  approval: ['accept', 'reject', 'cancel'],
  plan: ['approve', 'cancel'],
  step: ['approve_step', 'cancel'],
  cap: ['cap', 'cancel'],
  price: ['uncap', 'retry', 'cancel'],
  setup: ['retry', 'cancel'],
  baseline: ['retry', 'accept', 'cancel'],
  decision: ['retry', 'cancel'],
};

/** A need of a newer server can be retried or given up. */
export function deedsOf(need: Pick<Need, 'need'>): readonly Deed[] {
  return DEEDS[need.need] ?? ['retry', 'cancel'];
}

/** The words on the buttons. A baseline is accepted as it is, not as a result. */
export function deedText(deed: Deed, need: Pick<Need, 'need'>): string {
  switch (deed) {
    case 'answer':
      return need.need === 'unblock' ? 'Tell it how to go on' : 'Answer';
    case 'accept':
      return need.need === 'baseline' ? 'Start on it all the same' : 'Accept';
    case 'reject':
      return 'Send back…';
    case 'approve':
      return 'Approve';
    case 'approve_step':
      return 'Approve the step';
    case 'cap':
      return 'Raise the cap…';
    case 'uncap':
      return 'Remove the cap in money…';
    case 'retry':
      return need.need === 'setup' || need.need === 'baseline' ? 'Try again…' : 'Retry with…';
    case 'cancel':
      return 'Cancel the ticket…';
  }
}

/** The account whose cap a person changes: that of a ticket, of the track, or of each day. */
export type CapOf = { ticket: string } | 'track' | 'day';

export function capOf(account: Account): CapOf {
  if (account.account === 'ticket') return { ticket: account.ticket };
  return account.account;
}

/** The account whose cap a need is about. A model without a price is stopped by the nearest cap in money. */
export function capOfNeed(need: Need, ticket: { id: string; cap: Cap }, track: Cap | undefined): CapOf {
  if (need.need === 'cap') return capOf(need.account);
  if (ticket.cap.cost != null) return { ticket: ticket.id };
  return track?.cost != null ? 'track' : 'day';
}

/** A cap as it was typed; `undefined` if it is no number. Empty: no limit. */
export function parseLimit(text: string, whole: boolean): number | null | undefined {
  const given = text.trim().replaceAll(/[\s,_]/g, '');
  if (given === '') return null;
  const number = Number(given);
  if (!Number.isFinite(number) || number < 0) return undefined;
  return whole && !Number.isInteger(number) ? undefined : number;
}
