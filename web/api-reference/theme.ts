import { readChoice, storeChoice } from './stored.ts';

const darkness = matchMedia('(prefers-color-scheme: dark)');

const systemTheme = (): string => (darkness.matches ? 'dark' : 'light');

const themeNow = (): string => document.documentElement.dataset.theme ?? systemTheme();

const apply = (chosen: string | undefined): void => {
  if (chosen === 'dark' || chosen === 'light') document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
};

/** Applies the chosen theme. Without a choice, the page follows the system. */
export const startTheme = (): void => {
  apply(readChoice('theme'));
  const button = document.querySelector<HTMLButtonElement>('button.theme');
  if (!button) return;
  const label = (): void => {
    button.setAttribute('aria-label', themeNow() === 'dark' ? 'Use the light theme' : 'Use the dark theme');
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    const next = themeNow() === 'dark' ? 'light' : 'dark';
    const chosen = next === systemTheme() ? undefined : next;
    storeChoice('theme', chosen);
    apply(chosen);
    label();
  });
  darkness.addEventListener('change', label);
  label();
};
