import type { Page } from 'playwright-core';

/** Returns the texts of the page with less contrast than WCAG 2.2 AA requires. */
export const paleTexts = (page: Page): Promise<readonly string[]> => page.evaluate(findPaleTexts);

/** A string, because it runs in the browser. */
const findPaleTexts = `(() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const share = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red, green, blue]) => 0.2126 * share(red) + 0.7152 * share(green) + 0.0722 * share(blue);
  const backOf = (element) => {
    const back = element ? getComputedStyle(element).backgroundColor : 'rgb(255, 255, 255)';
    return parse(back)[3] === 0 ? backOf(element.parentElement) : back;
  };
  const textOf = ({ childNodes }) => [...childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data).join('').trim();
  return [...document.querySelectorAll('body *')]
    .filter((element) => textOf(element) !== '' && !element.closest('noscript, script, svg') && element.checkVisibility())
    .map((element) => {
      const [one, other] = [getComputedStyle(element).color, backOf(element)].map((colour) => luminance(parse(colour)));
      return [textOf(element), (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
    })
    .filter(([, contrast]) => contrast < 4.5)
    .map(([text, contrast]) => text + ': ' + contrast.toFixed(2));
})()`;
