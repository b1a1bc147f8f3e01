import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');

/** Returns the text under a heading of level 2. */
const chapter = (name: string): string => runbook.split(/^## /m).find((text) => text.startsWith(`${name}\n`)) ?? '';

/** Returns the headings of level 3 in a chapter, each with its text. */
export const sectionsOf = (name: string): ReadonlyMap<string, string> =>
  new Map(
    chapter(name)
      .split(/^### /m)
      .slice(1)
      .map((text) => {
        const end = text.indexOf('\n');
        return [text.slice(0, end), text.slice(end + 1).trim()];
      }),
  );
