/**
 * Layers of `lambdas/core`, lowest first. A folder imports the files directly in `core`, itself and every layer below
 * it. Folders of one layer do not import each other, with the exceptions in `besides`.
 */
const layers: readonly (readonly string[])[] = [
  ['errors'],
  ['money'],
  ['limits'],
  ['catalog'],
  ['pricing'],
  ['ledger', 'circuit', 'idempotency', 'accounts'],
  ['paid-call'],
  ['text', 'images', 'audio', 'videos', 'inputs'],
  ['price-list'],
];

/**
 * Allowed imports within a layer: the takeover of a claim resolves the holds of the earlier attempt in the ledger, and an
 * API key names its cap, which is in the account.
 */
const besides = new Set(['idempotency -> ledger', 'accounts -> ledger']);

/** Folders that the files directly in `core` may import, besides each other. */
const belowRoot = new Set(['errors', 'money']);

const folderOf = (path: string): string | undefined => {
  const [, , folder, ...rest] = path.split('/');
  return rest.length > 0 ? folder : undefined;
};

const layerOf = (folder: string): number => layers.findIndex((layer) => layer.includes(folder));

/** Returns why one file of `core` may not import another, or undefined if it may. */
export const layerProblem = (path: string, target: string): string | undefined => {
  const from = folderOf(path);
  const to = folderOf(target);
  if (to === undefined || from === to) return undefined;
  if (from === undefined) return belowRoot.has(to) ? undefined : `a file directly in core may not depend on ${to}`;
  if (layerOf(from) < 0 || layerOf(to) < 0) return `${layerOf(from) < 0 ? from : to} has no layer in core-layers.ts`;
  if (layerOf(to) < layerOf(from) || besides.has(`${from} -> ${to}`)) return undefined;
  return `core/${from} may not depend on core/${to}`;
};
