import { isRecord } from './json-sample.ts';

/** Returns the first reference that leads nowhere or to another document. */
export function missingReference(root: unknown): string | undefined {
  return referencesIn(root).find((reference) => resolveReference(reference, root) === undefined);
}

/** Returns the names of a definition that leads back to itself, `Node -> Node`. */
export function circularReference(root: unknown): string | undefined {
  return referencesIn(root)
    .filter((reference) => leadsTo(reference, reference, root))
    .map((reference) => `${nameOf(reference)} -> ${nameOf(reference)}`)[0];
}

/** Whether the schema at `start` contains a reference to `end`, at any distance. */
export function leadsTo(start: string, end: string, root: unknown): boolean {
  const seen = new Set<string>();
  const waiting = [start];
  for (let pointer = waiting.pop(); pointer !== undefined; pointer = waiting.pop()) {
    for (const next of referencesIn(resolveReference(pointer, root))) {
      if (next === end) return true;
      if (!seen.has(next)) waiting.push(next);
      seen.add(next);
    }
  }
  return false;
}

const data = new Set(['enum', 'const', 'default', 'examples']);

/** References in a schema, with those in its definitions only if it is the root. */
export function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isRecord(value)) return [];
  const own = typeof value.$ref === 'string' ? [value.$ref] : [];
  return [...own, ...Object.entries(value).flatMap(([name, member]) => (data.has(name) ? [] : referencesIn(member)))];
}

function resolveReference(reference: string, root: unknown): unknown {
  const [start, ...names] = reference.split('/');
  if (start !== '#') return undefined;
  return names.reduce<unknown>(
    (at, name) => (isRecord(at) ? at[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    root,
  );
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
