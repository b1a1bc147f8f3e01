import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell comes first: it takes half of the time of the whole browser. */
const places = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'];

/** Path of a Chromium on this machine. Tests that need one are skipped without it. */
export const chromiumPath: string | undefined = [process.env.CHROMIUM, ...places].find(
  (path) => path !== undefined && path !== '' && existsSync(path),
);

if (chromiumPath === undefined) {
  console.log('No Chromium found: tests of pages are skipped. Install it, or name it by CHROMIUM=/path/to/chromium.');
}

/** Starts a browser that makes no requests of its own. The caller closes it. */
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
