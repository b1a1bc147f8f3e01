import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell', '/usr/bin/google-chrome'];

/** Where a Chromium of this machine is; tests that need one are skipped where there is none. */
export const chromiumPath: string | undefined = [process.env.CHROMIUM, ...places].find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);

if (chromiumPath === undefined) {
  console.log('No Chromium found: tests of pages are skipped. Install it, or name it by CHROMIUM=/path/to/chromium.');
}

/** Sends nothing anywhere by itself. The caller closes it. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
