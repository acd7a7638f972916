import { mount } from 'svelte';
import App from './App.svelte';
import { changes } from './api/changes.svelte';
import { keyboard } from './ui/keyboard.svelte';
import { router } from './ui/router.svelte';
import { theme } from './ui/theme.svelte';

theme.start();
router.start();
keyboard.start();
changes.start();

const target = document.getElementById('app');
if (target) mount(App, { target });
