import type { Page } from 'playwright-core';

const ROOT = '/api-reference';

/** Returns the paths of the pages of the reference: its first page, and every page that one of them links. */
export const referencePaths = async (page: Page, origin: string): Promise<readonly string[]> => {
  const found = new Set([ROOT, `${ROOT}/clients`]);
  for (const path of found) {
    await page.goto(`${origin}${path}`, { waitUntil: 'networkidle', timeout: 120_000 });
    for (const target of await page.locator('a[href]').evaluateAll(targetsOf)) {
      const { origin: site, pathname } = new URL(target);
      if (site === origin && isPage(pathname)) found.add(pathname);
    }
  }
  return [...found];
};

const targetsOf = (links: readonly (SVGElement | HTMLElement)[]): readonly string[] =>
  links.map((link) => (link instanceof HTMLAnchorElement ? link.href : location.href));

/** A file such as `openapi.json` is not a page. */
const isPage = (path: string): boolean => (path === ROOT || path.startsWith(`${ROOT}/`)) && !/\.\w+$/.test(path);
