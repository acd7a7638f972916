import { api, ask, type Body, type Schemas } from '../api/client';
import type { Finding, MergedTrack, TrackBoard, TrackPlan } from './types';

/** The server's operations on tracks. Each throws a `Problem` if it fails. */

export async function listTracks(query: { limit?: number; cursor?: string; everywhere?: boolean }, signal?: AbortSignal): Promise<Schemas['TrackList']> {
  return (await ask(api.GET('/api/tracks', { params: { query }, signal }))).data;
}

export async function getTrack(id: string, signal?: AbortSignal): Promise<TrackBoard> {
  return (await ask(api.GET('/api/tracks/{id}', { params: { path: { id } }, signal }))).data;
}

export const eventsPath = (id: string): string => `/api/tracks/${encodeURIComponent(id)}/events`;

export async function getReport(id: string, signal?: AbortSignal): Promise<Schemas['TrackReport']> {
  return (await ask(api.GET('/api/tracks/{id}/report', { params: { path: { id } }, signal }))).data;
}

/** Calls no model. */
export async function planTrack(toml: string, signal?: AbortSignal): Promise<TrackPlan> {
  return (await ask(api.POST('/api/tracks/plan', { body: { toml }, signal }))).data;
}

export async function createTrack(toml: string): Promise<string> {
  return (await ask(api.POST('/api/tracks', { body: { toml } }))).data.id;
}

export async function draftTrack(body: Body<'/api/tracks/draft'>, signal?: AbortSignal): Promise<Schemas['DraftedTrack']> {
  return (await ask(api.POST('/api/tracks/draft', { body, signal }))).data;
}

export async function cleanWorktrees(dryRun: boolean): Promise<Schemas['CleanedWorktrees']> {
  return (await ask(api.POST('/api/tracks/clean', { body: { dry_run: dryRun } }))).data;
}

const track = (id: string) => ({ params: { path: { id } } });

export async function startTrack(id: string, body: Body<'/api/tracks/{id}/start'>): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/start', { ...track(id), body }))).data;
}

export async function pauseTrack(id: string): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/pause', track(id)))).data;
}

export async function resumeTrack(id: string): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/resume', track(id)))).data;
}

export async function cancelTrack(id: string, reason: string): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/cancel', { ...track(id), body: { reason } }))).data;
}

export async function approveTickets(id: string, tickets: string[]): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/approve', { ...track(id), body: { tickets } }))).data;
}

/** An empty branch is the track's own choice. */
export async function mergeTrack(id: string, branch: string): Promise<MergedTrack> {
  return (await ask(api.POST('/api/tracks/{id}/merge', { ...track(id), body: branch === '' ? {} : { branch } }))).data;
}

export async function changeCap(id: string, cap: Body<'/api/tracks/{id}/cap'>): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/cap', { ...track(id), body: cap }))).data;
}

const one = (id: string, ticket: string) => ({ params: { path: { id, ticket } } });

/** The last attempt's change. */
export async function getChange(id: string, ticket: string, signal?: AbortSignal): Promise<Schemas['TicketChange']> {
  return (await ask(api.GET('/api/tracks/{id}/tickets/{ticket}/diff', { ...one(id, ticket), signal }))).data;
}

export async function approveStep(id: string, ticket: string): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/tickets/{ticket}/approve-step', one(id, ticket)))).data;
}

export async function retryTicket(id: string, ticket: string, body: Body<'/api/tracks/{id}/tickets/{ticket}/retry'>): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/tickets/{ticket}/retry', { ...one(id, ticket), body }))).data;
}

export async function cancelTicket(id: string, ticket: string, reason: string): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/tickets/{ticket}/cancel', { ...one(id, ticket), body: { reason } }))).data;
}

export async function answerTicket(id: string, ticket: string, answer: string): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/tickets/{ticket}/answer', { ...one(id, ticket), body: { answer } }))).data;
}

export async function approveResult(id: string, ticket: string, note: string): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/tickets/{ticket}/approve-result', { ...one(id, ticket), body: { note } }))).data;
}

export async function rejectResult(id: string, ticket: string, note: string, findings: Finding[]): Promise<TrackBoard> {
  return (await ask(api.POST('/api/tracks/{id}/tickets/{ticket}/reject-result', { ...one(id, ticket), body: { note, findings } }))).data;
}
