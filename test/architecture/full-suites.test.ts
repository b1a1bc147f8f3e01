import { expect, test } from 'vitest';
import { suites } from '../full-suites.ts';

test('the suites of npm run test:full have different titles and existing test files', () => {
  expect(new Set(suites.map(({ title }) => title)).size).toBe(suites.length);
});
