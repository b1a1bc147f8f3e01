import { buildPages, type PageFile } from '../../lib/pages/build-pages.ts';

let built: Promise<readonly PageFile[]> | undefined;

/** Returns all pages of the gateway. Builds them once for all test files of a process. */
export const builtPages = (): Promise<readonly PageFile[]> => {
  built ??= buildPages();
  return built;
};
