import { expect, test } from 'vitest';
import { catalogData } from '../../../../catalog/index.ts';
import { loadCatalog } from '../../../../lambdas/core/catalog/load-catalog.ts';
import { CatalogError } from '../../../../lambdas/core/catalog/load-options.ts';
import { videoDependenciesFromEnvironment } from '../../../../lambdas/functions/wiring/video-dependencies.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';

const open = (environment: Readonly<Record<string, string>>) =>
  videoDependenciesFromEnvironment({ ...noTables, DYNAMODB_ENDPOINT: 'http://127.0.0.1:9', ...environment });

test('BILL-3 a function outside of a bundle checks the catalog with its own markup and companies', async () => {
  const { catalog } = await open({ MARKUP: '1.5', CATALOGS: 'openai' });
  const { entries, markup } = loadCatalog(catalogData, { markup: '1.5', companies: ['openai'] });
  expect([catalog.entries, catalog.markup]).toEqual([entries, markup]);
});

test('CAT-5 a function does not start with an unknown company', async () => {
  await expect(open({ CATALOGS: 'openai,acme' })).rejects.toThrow(CatalogError);
});
