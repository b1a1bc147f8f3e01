import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { importsOf, readSource, repository, withoutComments } from './read-imports.ts';

/** Modules that a production host never loads. They import development dependencies. */
const developmentOnly: ReadonlySet<string> = new Set([
  'local/emulated-engine.ts',
  'local/emulators/s3.ts',
  'local/page/local-page.ts',
  'local/simulators/server.ts',
  // Needed only for pages that `npm run build:pages` has not built in advance.
  'esbuild',
]);

/** Everything that a program imports, at its start and later: files and packages. Types are erased before it runs. */
const reachableFrom = (programs: readonly string[]): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (path: string): void => {
    if (developmentOnly.has(path) || path.startsWith('node:') || found.has(path)) return;
    found.add(path);
    if (path.endsWith('.ts')) for (const target of importsOf(path, withoutTypes(readSource(path)))) visit(target);
  };
  for (const program of programs) visit(program);
  return found;
};

const withoutTypes = (source: string): string =>
  withoutComments(source)
    .replaceAll(/\b(?:import|export) type\b[^;]*;/g, '')
    .replaceAll(/(?:\btypeof |: |<)import\(/g, '')
    // Indented import lines are sample code inside a string, not imports.
    .replaceAll(/^ +import [^(]*$/gm, '');

const dockerfile = readFileSync(join(repository, 'Dockerfile'), 'utf8');

const isFile = (path: string): boolean => /\.(?:ts|json)$/.test(path);
const packageOf = (path: string): string => path.split('/', path.startsWith('@') ? 2 : 1).join('/');

const reached = [...reachableFrom(['bin/local.ts', 'bin/cli.ts'])];

test('a host in production needs no development dependency', () => {
  const { dependencies } = z
    .object({ dependencies: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readSource('package.json')));
  const packages = new Set(reached.filter((path) => !isFile(path)).map(packageOf));
  expect(packages.size).toBeGreaterThan(5);
  expect([...packages].filter((name) => dependencies[name] === undefined)).toEqual([]);
});

test('the Docker image and the systemd unit start the program with the options of npm start', () => {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readSource('package.json')));
  const unit = readFileSync(join(repository, 'docs/operations/self-hosting.md'), 'utf8');
  const command = z.array(z.string()).parse(JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '[]'));
  expect(command.join(' ')).toBe(scripts.start);
  expect(/^ *ExecStart=\/usr\/bin\/(.+)$/m.exec(unit)?.[1]).toBe(scripts.start);
});

test('the Docker image has every folder that the program reads', () => {
  const copied = new Set([...dockerfile.matchAll(/^COPY (\w+) \1$/gm)].map(([, folder]) => folder));
  const folders = new Set(reached.filter(isFile).map((path) => path.split('/', 1)[0]));
  expect(folders).toEqual(copied);
});
