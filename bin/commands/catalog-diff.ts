import { basename } from 'node:path';
import type { Command } from 'commander';
import { catalogData } from '../../catalog/index.ts';
import { withJson } from '../command-options.ts';
import { misused, unsatisfied, whyOf } from '../exit.ts';
import { plain, printJson } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { byId, type Change, type Changes, compare } from './catalog-changes.ts';
import { type CatalogFiles, readCatalogPath } from './catalog-files.ts';

export const addCatalogDiffCommand = (catalog: Command, terminal: Terminal): void => {
  withJson(
    catalog
      .command('diff <old> [new]')
      .description(
        'show what changes from one catalog to another: models, fields, prices in percent. Takes folders or files of one company. ' +
          'Default for [new]: the current catalog. Exit 1 if they differ',
      ),
  ).action(async (old: string, now: string | undefined, options: { readonly json?: true }) => {
    const before = await readPath(old);
    const after = now === undefined ? catalogData : await readPath(now);
    const changes = compare(byId(entriesOf(before, after, now ?? '')), byId(entriesOf(after, before, old)));
    const same = changes.added.length + changes.removed.length + changes.changed.length === 0;
    if (options.json) await printJson(terminal, { same, ...changes });
    else await terminal.print(toText(changes, terminal));
    if (!same) throw unsatisfied();
  });
};

const readPath = async (path: string): Promise<CatalogFiles> => {
  try {
    return await readCatalogPath(path);
  } catch (error) {
    throw misused(`${path}: cannot be read: ${whyOf(error)}`);
  }
};

/**
 * Returns the entries to compare. If only `other` is the file of one company, the entries are the models of that
 * company in `files`.
 */
const entriesOf = (files: CatalogFiles, other: CatalogFiles, otherPath: string): readonly unknown[] => {
  if (files.providers === undefined) return models(files);
  if (other.providers !== undefined) return [...models(files), ...providers(files)];
  const name = basename(otherPath, '.json');
  const company = files.companies[name];
  if (company === undefined)
    throw misused(`${otherPath}: the other catalog has no company ${name}. Name the file after one of its companies.`);
  return listsOf(company, 'models');
};

const listsOf = (file: unknown, name: string): readonly unknown[] => {
  const value: unknown = typeof file === 'object' && file !== null ? Reflect.get(file, name) : undefined;
  return Array.isArray(value) ? value : [];
};

const models = ({ companies }: CatalogFiles): readonly unknown[] =>
  Object.values(companies).flatMap((file) => listsOf(file, 'models'));

/** Returns the providers with prefixed ids, so that no id equals that of a model. */
const providers = (files: CatalogFiles): readonly unknown[] =>
  listsOf(files.providers, 'providers').map((provider) =>
    typeof provider === 'object' && provider !== null && 'id' in provider
      ? { ...provider, id: `provider ${provider.id}` }
      : provider,
  );

const VALUE_MAX = 60;

const toText = ({ added, removed, changed }: Changes, { style }: Terminal): string =>
  [
    ...removed.map((id) => style('red', `- ${id}`)),
    ...added.map((id) => style('green', `+ ${id}`)),
    ...changed.map(
      (change) => `~ ${change.id}  ${change.field}  ${shown(change.old)} -> ${shown(change.new)}${percent(change)}`,
    ),
  ]
    .map((line) => `${line}\n`)
    .join('');

const shown = (value: string | null): string => {
  const text = plain(value ?? '(none)');
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
};

const percent = ({ percent: value }: Change): string => (value === null ? '' : `  (${value > 0 ? '+' : ''}${value}%)`);
