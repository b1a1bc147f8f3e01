import type { Page } from 'playwright-core';

/** A state of a page that a user can reach. */
export interface PageView<Site> {
  readonly name: string;
  /** Prepares the server before the page is opened. */
  readonly prepare?: (site: Site) => void;
  readonly reach: (page: Page) => Promise<void>;
}

const desktop = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

/** Screens and color schemes. The first of each scheme is the one of the quick tier. */
export const variants = [
  { name: 'light-desktop', colorScheme: 'light', viewport: desktop },
  { name: 'dark-phone', colorScheme: 'dark', viewport: phone },
  { name: 'light-phone', colorScheme: 'light', viewport: phone },
  { name: 'dark-desktop', colorScheme: 'dark', viewport: desktop },
] as const;
export type Variant = (typeof variants)[number];

/** Options of a browser context. Without animations, a page looks the same in each run. */
export const contextOf = ({ colorScheme, viewport }: Variant) =>
  ({ colorScheme, viewport, reducedMotion: 'reduce' }) as const;
