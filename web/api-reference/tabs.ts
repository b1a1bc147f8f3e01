import { readChoice, storeChoice } from './stored.ts';

interface Tab {
  readonly label: string;
  readonly button: HTMLButtonElement;
  readonly panel: HTMLElement;
}

const select = (tabs: readonly Tab[], chosen: Tab): void => {
  for (const tab of tabs) {
    const isChosen = tab === chosen;
    tab.button.setAttribute('aria-selected', String(isChosen));
    tab.button.tabIndex = isChosen ? 0 : -1;
    tab.panel.hidden = !isChosen;
  }
};

/** Keys that move between tabs (https://www.w3.org/WAI/ARIA/apg/patterns/tabs/). */
const nextOf = (tabs: readonly Tab[], from: number, key: string): Tab | undefined => {
  if (key === 'ArrowRight') return tabs[(from + 1) % tabs.length];
  if (key === 'ArrowLeft') return tabs.at(from - 1);
  if (key === 'Home') return tabs[0];
  return key === 'End' ? tabs.at(-1) : undefined;
};

const toTab = (panel: HTMLElement, id: string): Tab => {
  const label = panel.dataset.label ?? '';
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', id: `${id}-tab`, textContent: label });
  button.setAttribute('role', 'tab');
  button.setAttribute('aria-controls', id);
  panel.id = id;
  panel.setAttribute('role', 'tabpanel');
  panel.setAttribute('aria-labelledby', button.id);
  panel.querySelector('h3')?.remove();
  return { label, button, panel };
};

const startGroup = (section: HTMLElement, number: number): void => {
  const { group } = section.dataset;
  const panels = [...section.querySelectorAll<HTMLElement>(':scope > .panel')];
  const tabs = panels.map((panel, index) => toTab(panel, `panel-${number}-${index}`));
  const list = document.createElement('div');
  list.className = 'tablist';
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', section.getAttribute('aria-label') ?? '');
  list.append(...tabs.map(({ button }) => button));
  const choose = (tab: Tab): void => {
    select(tabs, tab);
    if (group !== undefined) storeChoice(group, tab.label);
  };
  for (const [index, tab] of tabs.entries()) {
    tab.button.addEventListener('click', () => choose(tab));
    tab.button.addEventListener('keydown', (event) => {
      const next = nextOf(tabs, index, event.key);
      if (!next) return;
      event.preventDefault();
      choose(next);
      next.button.focus();
    });
  }
  const remembered = group === undefined ? undefined : readChoice(group);
  const first = tabs.find(({ label }) => label === remembered) ?? tabs[0];
  if (!first) return;
  select(tabs, first);
  panels[0]?.before(list);
};

/** Turns panels that follow each other into tabs. The chosen language holds for every page. */
export const startTabs = (): void => {
  for (const [number, section] of document.querySelectorAll<HTMLElement>('.tabs').entries())
    startGroup(section, number);
};
