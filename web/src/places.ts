import type { Component } from 'svelte';
import type { Pattern } from './ui/route';

/** A place of the page: its address, and the component that shows it, loaded when it is first opened.
 * The component reads `router.route` for parameters and query. A new place is a row here. */
export interface Place extends Pattern {
  load: () => Promise<{ default: Component }>;
  /** Places of one group share a page: moving between them keeps what is on screen. */
  group?: string;
}

const library = () => import('./library/Library.svelte');
const piece = () => import('./editor/PiecePage.svelte');
const persona = () => import('./editor/PersonaPage.svelte');

export const places: readonly Place[] = [
  { place: 'library', path: '/', load: library },
  { place: 'library', path: '/library', load: library },
  { place: 'library', path: '/library/:kind', load: library },
  { place: 'piece', path: '/library/:kind/:name', load: piece },
  { place: 'piece-history', path: '/library/:kind/:name/history', load: () => import('./history/History.svelte') },
  { place: 'persona', path: '/personas/:name', load: persona },
  { place: 'persona-history', path: '/personas/:name/history', load: () => import('./history/History.svelte') },
  { place: 'conflicts', path: '/conflicts', load: () => import('./conflicts/Conflicts.svelte') },
  { place: 'conflict', path: '/conflicts/:kind/:name', load: () => import('./conflicts/Conflict.svelte') },
  { place: 'templates', path: '/templates', load: () => import('./library/Templates.svelte') },
  { place: 'sessions', path: '/sessions', load: () => import('./sessions/SessionsPage.svelte'), group: 'sessions' },
  { place: 'session', path: '/sessions/:id', load: () => import('./sessions/SessionsPage.svelte'), group: 'sessions' },
  { place: 'tracks', path: '/tracks', load: () => import('./tracks/TracksPage.svelte') },
  { place: 'new-track', path: '/tracks/new', load: () => import('./tracks/NewTrack.svelte') },
  { place: 'track', path: '/tracks/:id', load: () => import('./tracks/TrackPage.svelte') },
  { place: 'settings', path: '/settings', load: () => import('./settings/SettingsPage.svelte') },
  { place: 'persona-tests', path: '/personas/:name/tests', load: () => import('./tests/TestsPage.svelte') },
];
