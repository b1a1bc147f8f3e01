import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type AppPage, startAppPage } from './app-page.ts';
import { type Visit, visit } from './app-page-visit.ts';
import { openBrowser } from './browser.ts';

/** One browser for a group of tests; each test has its own mini app and API. Call it inside `describe`. */
export const appScene = () => {
  let browser: Browser;
  let app: AppPage;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    app = await startAppPage();
  });
  afterEach(() => app.stop());
  return {
    get browser(): Browser {
      return browser;
    },
    get app(): AppPage {
      return app;
    },
    open: (options: Visit, look: (page: Page) => Promise<void>): Promise<void> =>
      visit({ browser, app }, options, look),
  };
};
