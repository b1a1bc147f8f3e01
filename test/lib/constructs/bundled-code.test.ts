import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CatalogError } from '../../../lambdas/core/catalog/load-options.ts';
import { bundle } from '../../../lib/constructs/bundled-code.ts';

test('CAT-5 an invalid catalog cannot be bundled, and no file is written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bundle-'));
  const catalog = { providers: { providers: [] }, companies: { openai: { models: [{ id: 'gpt-x', kind: 'text' }] } } };
  try {
    const entry = 'lambdas/functions/text.ts';
    expect(() => bundle({ entry }, join(folder, 'text'), catalog)).toThrow(CatalogError);
    expect(existsSync(join(folder, 'text'))).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
