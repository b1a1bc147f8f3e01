import { layerProblem } from './core-layers.ts';
import { COMPUTED } from './read-imports.ts';

/** A part of the repository with its own rules about what it may import. */
export type Module =
  | 'bin'
  | 'lib'
  | 'local'
  | 'simulators'
  | 'local-ui'
  | 'reference'
  | 'catalog'
  | 'web'
  | 'test'
  | 'bench'
  | 'root'
  | LambdaFile
  | LambdaFolder;

const lambdaFolders = [
  'checks',
  'core',
  'functions',
  'host',
  'http',
  'messenger',
  'protocols',
  'providers',
  'stores',
] as const;
type LambdaFolder = (typeof lambdaFolders)[number];

/** Modules of one file, `lambdas/<name>.ts`. */
const lambdaFiles = ['settings', 'routes', 'limits'] as const;
type LambdaFile = (typeof lambdaFiles)[number];

const folders = ['bin', 'lib', 'local', 'reference', 'catalog', 'web', 'test', 'bench'] as const;

/** Returns the module of a file, or undefined if the file is in no known folder. */
export const moduleOf = (path: string): Module | undefined => {
  if (!path.includes('/')) return 'root';
  if (path.startsWith('local/simulators/')) return 'simulators';
  if (path.startsWith('local/page/ui/')) return 'local-ui';
  const [top, second] = path.split('/');
  if (top !== 'lambdas') return folders.find((folder) => folder === top);
  return lambdaFolders.find((folder) => folder === second) ?? lambdaFiles.find((file) => `${file}.ts` === second);
};

/** Modules that may import everything in the repository. */
const free: ReadonlySet<Module> = new Set(['test', 'bench', 'root']);

const everyLambda: readonly Module[] = [...lambdaFolders, ...lambdaFiles];

/** Imports of the other modules. `narrowed` below restricts some of them to single files. */
const allowed: Readonly<Record<Exclude<Module, 'test' | 'bench' | 'root'>, readonly Module[]>> = {
  core: ['core'],
  limits: [],
  settings: ['core', 'limits'],
  routes: ['core', 'limits'],
  checks: ['core', 'routes', 'checks'],
  http: ['core', 'http', 'routes', 'limits'],
  protocols: ['core', 'http', 'routes', 'limits', 'protocols'],
  providers: ['core', 'providers'],
  stores: ['core', 'stores'],
  messenger: ['core', 'http', 'routes', 'messenger'],
  functions: [...everyLambda.filter((module) => module !== 'host'), 'catalog'],
  host: ['core', 'http', 'settings', 'routes', 'limits', 'functions', 'host'],
  lib: ['lib', 'catalog', 'settings', 'routes', 'limits', 'core'],
  local: [...everyLambda, 'catalog', 'lib', 'local', 'simulators', 'local-ui'],
  simulators: ['simulators'],
  'local-ui': ['local-ui', 'web'],
  reference: ['reference', 'protocols', 'http', 'core', 'routes', 'limits', 'catalog'],
  catalog: ['catalog'],
  web: ['web', 'core'],
  bin: [...everyLambda, 'catalog', 'lib', 'local', 'simulators', 'reference', 'web', 'bin'],
};

/** Limits of imports from the first module into the second: only the files that match the pattern may be imported. */
const narrowed: readonly (readonly [from: Module, to: Module, only: RegExp])[] = [
  ['lib', 'core', /^lambdas\/core\/(?:catalog\/|metrics\.ts$)/],
  ['web', 'core', /^lambdas\/core\/money\/usd\.ts$/],
  ['local', 'lib', /^lib\/(?:tables\.ts|video\/definition\.ts|pages\/.*)$/],
  ['local', 'local-ui', /^local\/page\/ui\/wire\.ts$/],
  // The local gateway uses the factories in `wiring`, because the import of an entry point already runs it.
  ['local', 'functions', /^lambdas\/functions\/wiring\//],
];

/** The only file of `lambdas/stores/dynamodb` that uses the SDK. */
export const DYNAMODB_SDK = 'lambdas/stores/dynamodb/dynamodb.ts';

const computing: ReadonlySet<Module> = new Set(['bin', 'local', ...free]);
const awsModules: ReadonlySet<Module> = new Set(['stores', 'functions', 'bin', 'local', ...free]);
const cdkModules: ReadonlySet<Module> = new Set(['lib', 'bin', 'test', 'root']);

/** The import rules that this file breaks, one sentence each. */
export const importProblems = (path: string, imports: readonly string[]): readonly string[] => {
  const module = moduleOf(path);
  if (!module) return [`${path} is in no known folder`];
  const problems = imports.map((target) => problemOf(path, module, target));
  return problems.filter((problem) => problem !== undefined);
};

const problemOf = (path: string, module: Module, target: string): string | undefined => {
  if (target === COMPUTED) return computing.has(module) ? undefined : `${path} imports a computed target`;
  const reason = isInside(target) ? insideProblem(path, module, target) : libraryProblem(path, module, target);
  return reason && `${path} imports ${target}: ${reason}`;
};

/**
 * Whether the target counts as a file. `../` leads out of the repository, and a package whose name ends like a file
 * counts as one.
 */
const isInside = (target: string): boolean => {
  const [top = ''] = target.split('/');
  const isKnown = top === '..' || top === 'lambdas' || folders.some((folder) => folder === top);
  return isKnown || /\.(?:ts|json)$/.test(target.split('?')[0] ?? '');
};

const insideProblem = (path: string, module: Module, target: string): string | undefined => {
  if (module === 'test' || module === 'bench' || module === 'root') return undefined;
  const other = moduleOf(target);
  if (!other) return `${module} may not import a file outside the known folders`;
  if (!allowed[module].includes(other)) return `${module} may not import ${other}`;
  const only = narrowed.find(([from, to]) => from === module && to === other)?.[2];
  if (only && !only.test(target)) return `${module} may not import this file of ${other}`;
  if (module === 'core') return layerProblem(path, target);
  if (module === other && (module === 'protocols' || module === 'providers')) return siblingProblem(path, target);
  return undefined;
};

/**
 * Returns the problem of an import between folders of a module, `lambdas/<module>/<folder>/...`. All folders share the
 * files directly in the module.
 */
const siblingProblem = (path: string, target: string): string | undefined => {
  const [own, other] = [path, target].map((file) => {
    const [, , folder, ...rest] = file.split('/');
    return rest.length > 0 ? folder : undefined;
  });
  if (other === undefined || own === other) return undefined;
  return own === undefined
    ? `a file that all folders share may not depend on ${other}`
    : `${own} may not depend on ${other}`;
};

const libraryProblem = (path: string, module: Module, target: string): string | undefined => {
  if (target.startsWith('@aws-sdk/') && !mayUseSdk(path, module)) return `${module} may not use the AWS SDK here`;
  if (/^(aws-cdk-lib|constructs)(\/|$)/.test(target) && !cdkModules.has(module)) return `${module} may not use the CDK`;
  if (module !== 'core' || target === 'node:crypto') return undefined;
  if (target === 'zod' && path.startsWith('lambdas/core/catalog/')) return undefined;
  return 'core may import node:crypto and, in its catalog, zod';
};

const mayUseSdk = (path: string, module: Module): boolean => {
  if (path.startsWith('lambdas/stores/dynamodb/')) return path === DYNAMODB_SDK;
  return awsModules.has(module);
};
