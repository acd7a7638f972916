import type { Schemas } from '../api/client';

/** The shapes of tracks, as openapi.json has them, under the names that the page uses. */

export type TrackBoard = Schemas['TrackBoard'];
export type TicketBoard = Schemas['TicketBoard'];
export type AttemptBoard = Schemas['AttemptBoard'];
export type RoundBoard = Schemas['RoundBoard'];
export type TicketNeed = Schemas['TicketNeed'];
export type Need = Schemas['Need'];
export type Account = Schemas['Account'];
export type Approval = Schemas['Approval'];
export type CheckRun = Schemas['CheckRun'];
export type Finding = Schemas['Finding'];
export type Submission = Schemas['Submission'];
export type Proof = Schemas['Proof'];
export type Spent = Schemas['Spent'];
export type Cap = Schemas['Cap'];
export type TrackItem = Schemas['TrackItem'];
export type TrackPlan = Schemas['TrackPlan'];
export type PlannedTicket = Schemas['PlannedTicket'];
export type MergedTrack = Schemas['MergedTrack'];
export type CleanedWorktree = Schemas['CleanedWorktree'];

export type State = TicketBoard['state'];
export type Phase = TrackBoard['phase'];
export type Origin = TicketBoard['origin'];
export type Ruling = NonNullable<AttemptBoard['ruling']>;
export type ReviewVerdict = NonNullable<RoundBoard['verdict']>;

/** An entry of the log: its `type`, and fields by type. A newer server may have types that the page does not know, so
 * the document leaves them open. */
export interface LoggedEvent {
  type: string;
  ticket?: string;
  [field: string]: unknown;
}
export type Recorded = Omit<Schemas['Recorded'], 'event'> & { event: LoggedEvent };
export type TrackEvent = Exclude<Schemas['TrackEvent'], { type: 'recorded' }> | { type: 'recorded'; recorded: Recorded };
