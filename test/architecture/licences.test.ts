import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';

/** Licenses that require only a notice. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
]);

/** Licenses that require publication of changes to their files. Allowed for development tools. */
const forToolsOnly = new Set(['MPL-2.0']);

/** Packages whose license npm does not copy into the lockfile. Each states MIT in its package.json or its readme. */
const statedElsewhere: Readonly<Record<string, string>> = {
  'node_modules/busboy': 'MIT',
  'node_modules/humanize-number': 'MIT',
  'node_modules/streamsearch': 'MIT',
};

const lockfileSchema = z.object({
  packages: z.record(z.string(), z.object({ license: z.string().optional(), dev: z.boolean().default(false) })),
});

interface LockedPackage {
  readonly license?: string | undefined;
  readonly dev: boolean;
}

/** Accepts an SPDX expression of one name or of a choice between several. */
const isAllowed = ({ license = '', dev }: LockedPackage): boolean =>
  license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((name) => permissive.has(name) || (dev && forToolsOnly.has(name)));

test('every package of the lockfile has an allowed license', () => {
  const lockfile = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8');
  const { '': own, ...packages } = lockfileSchema.parse(JSON.parse(lockfile)).packages;
  expect(own?.license).toBe('MIT');
  expect(Object.keys(packages).length).toBeGreaterThan(100);
  const refused = Object.entries(packages).filter(
    ([path, locked]) => !isAllowed({ ...locked, license: locked.license ?? statedElsewhere[path] }),
  );
  expect(refused.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
});

test.each([
  [{ license: 'MIT', dev: false }, true],
  [{ license: '(MIT OR GPL-3.0-or-later)', dev: false }, true],
  [{ license: 'MPL-2.0', dev: true }, true],
  [{ license: 'MPL-2.0', dev: false }, false],
  [{ license: 'GPL-3.0-or-later', dev: true }, false],
  [{ license: 'MIT AND GPL-3.0-or-later', dev: false }, false],
  [{ dev: false }, false],
])('%j is allowed: %s', (locked, allowed) => {
  expect(isAllowed(locked)).toBe(allowed);
});
