import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { clauses, editsOf } from './clauses.ts';

/**
 * Preloaded with `--import`. Removes the clauses named in SEARCH_WITHOUT from the sources while they are loaded. Ends
 * the process if a text does not occur in its file exactly once, so the list of clauses stays in step with the code.
 */
const named = (process.env.SEARCH_WITHOUT ?? '').split(',').filter(Boolean);
const repository = join(import.meta.dirname, '../..');

const wanted = named.flatMap((id) => {
  const clause = clauses.find((one) => one.id === id);
  if (!clause) throw new Error(`clause ${id} does not exist`);
  return editsOf(clause).map((edit) => ({ ...edit, url: pathToFileURL(join(repository, edit.file)).href }));
});

const done = new Set<string>();

/** Whether every file of the clause was loaded without it. */
export const isTakenOut = (): boolean => wanted.length > 0 && wanted.every(({ file }) => done.has(file));

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    const here = wanted.filter((edit) => edit.url === url);
    if (here.length === 0) return loaded;
    const { source } = loaded;
    if (source === undefined || source === null) throw new Error(`${url} has no source`);
    let text = typeof source === 'string' ? source : new TextDecoder().decode(source);
    for (const { file, find, replace } of here) {
      if (text.split(find).length !== 2) throw new Error(`the text of a clause must occur in ${file} exactly once`);
      text = text.replace(find, () => replace);
      done.add(file);
    }
    return { ...loaded, source: text };
  },
});
