import Library from '@lucide/svelte/icons/library';
import MessagesSquare from '@lucide/svelte/icons/messages-square';
import Settings from '@lucide/svelte/icons/settings';
import Workflow from '@lucide/svelte/icons/workflow';
import type { Component } from 'svelte';

/** The rail's entries, in order. A new place adds its row; `places` are the routes that light it up. */
export interface RailEntry {
  label: string;
  href: string;
  icon: Component;
  places: readonly string[];
}

export const railEntries: readonly RailEntry[] = [
  {
    label: 'Library',
    href: '/',
    icon: Library,
    places: ['library', 'piece', 'piece-history', 'persona', 'persona-history', 'persona-tests', 'conflicts', 'conflict', 'templates'],
  },
  { label: 'Sessions', href: '/sessions', icon: MessagesSquare, places: ['sessions', 'session'] },
  { label: 'Tracks', href: '/tracks', icon: Workflow, places: ['tracks', 'new-track', 'track'] },
  { label: 'Settings', href: '/settings', icon: Settings, places: ['settings'] },
];
