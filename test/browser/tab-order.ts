import type { Page } from 'playwright-core';

/** Elements that the Tab key must reach, in the order of the document, and what is wrong with the way there. */
export interface TabOrder {
  readonly expected: readonly string[];
  readonly reached: readonly string[];
  /** Stops without a visible focus. */
  readonly withoutOutline: readonly string[];
  /** Stops that another element covers, or that are outside the window. */
  readonly hidden: readonly string[];
}

interface Stop {
  readonly name: string;
  readonly index: number;
  readonly isOutlined: boolean;
  readonly isShown: boolean;
}

/** No page has more. The limit only stops an endless loop. */
export const STOPS_MAX = 400;

/** Presses the key from the start of the page until the focus has left the page or is back at its first stop. */
export const tabThrough = async (page: Page, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<TabOrder> => {
  await page.evaluate(startAt(key === 'Tab' ? 'prepend' : 'append'));
  const expected: readonly string[] = await page.evaluate(listFocusable);
  const stops: Stop[] = [];
  for (let pressed = 0; pressed < STOPS_MAX; pressed += 1) {
    await page.keyboard.press(key);
    const stop: Stop | null = await page.evaluate(readStop);
    if (!stop || (stops.length > 1 && stop.index === stops[0]?.index)) break;
    // A date has several fields inside one element.
    if (stop.index !== stops.at(-1)?.index) stops.push(stop);
  }
  const namesOf = (some: readonly Stop[]): readonly string[] => some.map(({ name }) => name);
  return {
    expected: key === 'Tab' ? expected : expected.toReversed(),
    reached: namesOf(stops),
    withoutOutline: namesOf(stops.filter(({ isOutlined }) => !isOutlined)),
    hidden: namesOf(stops.filter(({ isShown }) => !isShown)),
  };
};

/** Opens a dialog with the keyboard. Returns a fault of its focus, or undefined. */
export const dialogFault = async (page: Page, opener: string): Promise<string | undefined> => {
  const isInside = (): Promise<boolean> =>
    page.evaluate('document.activeElement === document.body || !!document.activeElement.closest("dialog[open]")');
  await page.locator(opener).first().focus();
  await page.keyboard.press('Enter');
  const dialog = page.locator('dialog[open]');
  await dialog.waitFor();
  if (!(await page.evaluate('!!document.activeElement.closest("dialog[open]")'))) return 'takes no focus';
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab']) {
    await page.keyboard.press(key);
    if (!(await isInside())) return `loses the focus after ${key}`;
  }
  await dialog.locator('button').first().focus();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const isRestored = await page
    .locator(opener)
    .first()
    .evaluate((button) => button === document.activeElement);
  return isRestored ? undefined : 'does not restore the focus';
};

/** These run in the browser. A group of radio buttons is one stop: the checked button, which its label draws. */
const nameOf = `(element) => {
  const text = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
  return (element.localName + ' ' + text.trim().replace(/\\s+/g, ' ')).slice(0, 60);
}`;

const focusable = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, iframe, [tabindex]')]
  .filter((element) => element.tabIndex >= 0 && !element.disabled && element.checkVisibility())
  .filter(({ type, checked }) => type !== 'radio' || checked)`;

/** The browser continues from where the removed element was. */
const startAt = (end: 'prepend' | 'append'): string => `(() => {
  const mark = document.createElement('i');
  mark.tabIndex = -1;
  document.body.${end}(mark);
  mark.focus();
  mark.remove();
})()`;

const listFocusable = `${focusable}.map(${nameOf})`;

const readStop = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const drawn = element.type === 'radio' ? element.nextElementSibling : element;
  const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
  const { left, right, top, bottom } = drawn.getBoundingClientRect();
  const middle = (from, to, size) => (Math.max(from, 0) + Math.min(to, size)) / 2;
  const over = document.elementFromPoint(middle(left, right, innerWidth), middle(top, bottom, innerHeight));
  return {
    name: (${nameOf})(element),
    index: ${focusable}.indexOf(element),
    isOutlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1,
    isShown: !!over && (element.contains(over) || over.contains(element) && !['BODY', 'HTML'].includes(over.tagName) || drawn.contains(over)),
  };
})()`;
