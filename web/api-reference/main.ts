import { addCopyButtons } from './copy.ts';
import { startSearch } from './search.ts';
import { startSending } from './send.ts';
import { startTabs } from './tabs.ts';
import { startTheme } from './theme.ts';
import './style.css';

startTheme();
startTabs();
addCopyButtons();
startSearch();
startSending();

/** Opens the closed element that the URL names, such as an error. */
const openTarget = (): void => {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
};
addEventListener('hashchange', openTarget);
openTarget();

/** Scrolls the long list of routes to this page, and nothing else. */
const navigation = document.getElementById('navigation');
const here = navigation?.querySelector<HTMLElement>('[aria-current]');
if (navigation && here) navigation.scrollTop = here.offsetTop - navigation.clientHeight / 2;
