import { expect, test } from 'vitest';
import { html, lines } from '../../../../lambdas/messenger/html.ts';
import { languageOf, textsFor } from '../../../../lambdas/messenger/texts/texts.ts';
import { renderHtml } from '../../../../local/simulators/messenger/rendered-html.ts';

const amounts = { balance: '1', available: '1', held: '0', isBlocked: false };

test.each([
  ['ru', 1, '1 выполняемый запрос'],
  ['ru', 3, '3 выполняемых запроса'],
  ['ru', 11, '11 выполняемых запросов'],
  ['ru', 21, '21 выполняемый запрос'],
  ['en', 1, '1 request in progress'],
  ['en', 21, '21 requests'],
] as const)('KEY-1 counts in %s: %i', (language, openHolds, words) => {
  expect(textsFor(language).balance({ ...amounts, openHolds }).html).toContain(words);
});

test.each([
  ['ru', 'ru'],
  ['ru-RU', 'ru'],
  ['rum', 'en'],
  ['en', 'en'],
  ['uk', 'en'],
  [undefined, 'en'],
] as const)('KEY-1 speaks to a user of %s in %s', (tag, language) => {
  expect(languageOf(tag)).toBe(language);
  expect(textsFor(languageOf(tag)).language).toBe(language);
});

test('KEY-1 a value in a text is shown literally, including tags', () => {
  const hostile = '</b><a href="x">&amp;"';
  const written = lines([html`<b>${hostile}</b>`, html`${html`<code>${hostile}</code>`}${7}`]);
  expect(renderHtml(written.html)).toEqual({
    text: `${hostile}\n${hostile}7`,
    spans: [
      { kind: 'bold', offset: 0, length: hostile.length },
      { kind: 'code', offset: hostile.length + 1, length: hostile.length },
    ],
  });
});
