import { findRows, queryWords, type Row } from './rank.ts';

/** Characters of the text before and after the first word that was found. */
const AROUND = 60;

const excerptOf = (text: string, query: string): string => {
  const lower = text.toLowerCase();
  const word = queryWords(query).find((each) => lower.includes(each)) ?? '';
  const at = Math.max(0, lower.search(new RegExp(`\\b${word}`, 'u')));
  const from = Math.max(0, at - AROUND);
  return `${from > 0 ? '…' : ''}${text.slice(from, at + word.length + AROUND)}${at + word.length + AROUND < text.length ? '…' : ''}`;
};

const span = (className: string, text: string): HTMLElement => {
  const node = document.createElement('span');
  Object.assign(node, { className, textContent: text });
  return node;
};

const toItem = ([kind, title, context, text, url]: Row, query: string): HTMLLIElement => {
  const link = document.createElement('a');
  link.href = url;
  link.append(
    span('kind', kind),
    span('title', title),
    span('context', context),
    span('excerpt', excerptOf(text, query)),
  );
  const item = document.createElement('li');
  item.append(link);
  return item;
};

const loadRows = async (): Promise<readonly Row[]> => {
  const response = await fetch('/api-reference/search.json');
  if (!response.ok) throw new Error(`search.json: HTTP ${response.status}`);
  return response.json();
};

interface Parts {
  readonly dialog: HTMLDialogElement;
  readonly input: HTMLInputElement;
  readonly list: HTMLElement;
  readonly count: HTMLElement;
  /** Links to the guides, shown when nothing is found. */
  readonly hint: HTMLElement;
}

const show = ({ list, count, hint }: Parts, rows: readonly Row[], query: string): void => {
  const found = findRows(rows, query);
  list.replaceChildren(...found.map((row) => toItem(row, query)));
  hint.hidden = query.trim() === '' || found.length > 0;
  if (query.trim() === '') count.textContent = '';
  else count.textContent = found.length === 1 ? '1 result' : `${found.length || 'No'} results`;
};

/** Moves the focus between the field and the results. */
const move = ({ input, list, hint }: Parts, event: KeyboardEvent): void => {
  const links = (hint.hidden ? list : hint).querySelectorAll('a');
  const stops: (Element & HTMLOrSVGElement)[] = [input, ...links];
  const at = stops.findIndex((stop) => stop.matches(':focus'));
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0 || at < 0) return;
  event.preventDefault();
  stops.at((at + step) % stops.length)?.focus();
};

const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select') !== null;

const isShortcut = (event: KeyboardEvent): boolean =>
  (event.key === '/' && !isTyping(event)) || (event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey));

/** Loads the index when the search is first opened. */
const run = (parts: Parts, button: HTMLButtonElement): void => {
  let loading: Promise<readonly Row[]> | undefined;
  const { dialog, input, list, count, hint } = parts;
  const update = async (): Promise<void> => {
    loading ??= loadRows();
    try {
      show(parts, await loading, input.value);
    } catch {
      loading = undefined;
      count.textContent = 'The search index cannot be loaded. Try again.';
    }
  };
  const open = (): void => {
    if (!dialog.open) dialog.showModal();
    input.select();
    void update();
  };
  button.hidden = false;
  button.addEventListener('click', open);
  input.addEventListener('input', () => void update());
  dialog.addEventListener('keydown', (event) => {
    // The field itself would take the first Escape to clear its text.
    if (event.key === 'Escape') {
      event.preventDefault();
      dialog.close();
    } else move(parts, event);
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close();
  });
  for (const links of [list, hint]) links.addEventListener('click', () => dialog.close());
  dialog.querySelector('form')?.addEventListener('submit', (event) => {
    const first = list.querySelector<HTMLAnchorElement>('a');
    if (event.submitter?.matches(':focus') || !first) return;
    event.preventDefault();
    first.click();
  });
  addEventListener('keydown', (event) => {
    if (!isShortcut(event)) return;
    event.preventDefault();
    open();
  });
};

export const startSearch = (): void => {
  const dialog = document.querySelector<HTMLDialogElement>('dialog.search');
  const button = document.querySelector<HTMLButtonElement>('button.find');
  const input = dialog?.querySelector<HTMLInputElement>('input');
  const list = dialog?.querySelector<HTMLElement>('.found');
  const count = dialog?.querySelector<HTMLElement>('.count');
  const hint = dialog?.querySelector<HTMLElement>('.hint');
  if (dialog && button && input && list && count && hint) run({ dialog, input, list, count, hint }, button);
};
