export type Theme = 'system' | 'light' | 'dark';

const KEY = 'masque-theme';

class ThemeChoice {
  current = $state<Theme>('system');

  start(): void {
    const kept = localStorage.getItem(KEY);
    this.set(kept === 'light' || kept === 'dark' ? kept : 'system');
  }

  set(theme: Theme): void {
    this.current = theme;
    if (theme === 'system') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(KEY);
    } else {
      document.documentElement.dataset.theme = theme;
      localStorage.setItem(KEY, theme);
    }
  }

  /** system → light → dark → system. */
  next(): void {
    this.set(this.current === 'system' ? 'light' : this.current === 'light' ? 'dark' : 'system');
  }
}

export const theme = new ThemeChoice();
