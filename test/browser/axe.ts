import axe, { type AxeResults, type RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

/** WCAG 2.2 at level AA, and the practices that axe recommends beyond it. */
const options: RunOptions = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  resultTypes: ['violations'],
};

export interface Violation {
  readonly rule: string;
  /** CSS selector, one part for each frame around the element. */
  readonly selector: string;
  readonly help: string;
}

/** Returns the violations that axe finds on the page and in its frames. The policy of a page does not block axe. */
export const violationsOf = async (page: Page): Promise<readonly Violation[]> => {
  for (const frame of page.frames()) await frame.evaluate(axe.source);
  const { violations }: AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target }) => ({ rule: id, selector: target.join(' '), help })),
  );
};
