import { COMPUTED } from './read-imports.ts';

/** A part of the repository with rules of its own about what it may import. */
export type Room =
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
  | 'settings'
  | 'limits'
  | 'routes'
  | LambdaRoom;

const lambdaRooms = ['core', 'functions', 'host', 'http', 'messenger', 'protocols', 'providers', 'stores'] as const;
type LambdaRoom = (typeof lambdaRooms)[number];

const folders = ['bin', 'lib', 'local', 'reference', 'catalog', 'web', 'test', 'bench'] as const;

/** The room a file is in; undefined when it stands where nothing should. */
export const roomOf = (path: string): Room | undefined => {
  if (!path.includes('/')) return 'root';
  if (path === 'lambdas/settings.ts') return 'settings';
  if (path === 'lambdas/limits.ts') return 'limits';
  if (path === 'lambdas/routes.ts') return 'routes';
  if (path.startsWith('local/simulators/')) return 'simulators';
  if (path.startsWith('local/page/ui/')) return 'local-ui';
  const [top, second] = path.split('/');
  return top === 'lambdas' ? lambdaRooms.find((room) => room === second) : folders.find((folder) => folder === top);
};

/** Rooms that may import anything. */
const free: ReadonlySet<Room> = new Set(['bin', 'local', 'test', 'bench', 'root']);

/** What the others may import from inside the repository; `lib` is told apart further below. */
const allowed: Readonly<Partial<Record<Room, readonly Room[]>>> = {
  core: ['core'],
  limits: [],
  settings: ['core', 'limits'],
  routes: ['core'],
  http: ['core', 'http', 'limits', 'routes'],
  protocols: ['core', 'http', 'routes', 'protocols'],
  providers: ['core', 'providers'],
  stores: ['core', 'stores'],
  messenger: ['core', 'http', 'routes', 'messenger'],
  functions: [
    'core',
    'http',
    'protocols',
    'providers',
    'stores',
    'messenger',
    'limits',
    'settings',
    'routes',
    'catalog',
    'functions',
  ],
  host: ['core', 'http', 'limits', 'settings', 'routes', 'functions', 'host'],
  lib: ['lib', 'catalog', 'limits', 'settings', 'routes', 'core'],
  reference: ['reference', 'protocols', 'http', 'core', 'limits', 'routes', 'catalog'],
  simulators: ['simulators', 'core', 'protocols', 'catalog'],
  catalog: ['catalog'],
  web: ['web'],
  'local-ui': ['local-ui', 'web'],
};

const awsRooms: ReadonlySet<Room> = new Set(['stores', 'functions', ...free]);
const cdkRooms: ReadonlySet<Room> = new Set(['lib', 'bin', 'test', 'root']);

/** The rules of imports that this file breaks, one sentence each. */
export const importProblems = (path: string, imports: readonly string[]): readonly string[] => {
  const room = roomOf(path);
  if (!room) return [`${path} stands in no known folder`];
  const problems = imports.map((target) => problemOf(path, room, target));
  return problems.filter((problem) => problem !== undefined);
};

const problemOf = (path: string, room: Room, target: string): string | undefined => {
  if (target === COMPUTED) return free.has(room) ? undefined : `${path} imports a computed target`;
  const reason = isInside(target) ? insideProblem(path, room, target) : libraryProblem(path, room, target);
  return reason && `${path} imports ${target}: ${reason}`;
};

/** A package may have files with endings of ours, and `../` leads out of the repository. */
const isInside = (target: string): boolean => {
  const [top = ''] = target.split('/');
  const isOurs = top === '..' || top === 'lambdas' || folders.some((folder) => folder === top);
  return isOurs || /\.(?:ts|json)$/.test(target.split('?')[0] ?? '');
};

const insideProblem = (path: string, room: Room, target: string): string | undefined => {
  if (free.has(room)) return undefined;
  const other = roomOf(target);
  if (!other || !allowed[room]?.includes(other))
    return `${room} may not import ${other ?? 'what is in no known folder'}`;
  if (room === 'lib' && other === 'core' && !/^lambdas\/core\/(?:catalog\/|metrics\.ts$)/.test(target)) {
    return 'lib may import only the catalog and the metrics of the core';
  }
  if (room === other && (room === 'protocols' || room === 'providers')) return siblingProblem(path, target);
  return undefined;
};

/** `lambdas/<room>/<folder>/...`; a file directly in the room belongs to all its folders. */
const siblingProblem = (path: string, target: string): string | undefined => {
  const [own, other] = [path, target].map((file) => {
    const [, , folder, ...rest] = file.split('/');
    return rest.length > 0 ? folder : undefined;
  });
  if (other === undefined || own === other) return undefined;
  return own === undefined ? `what all folders share may not depend on ${other}` : `${own} may not depend on ${other}`;
};

const DYNAMODB_PORT = 'lambdas/stores/dynamodb/dynamodb.ts';

const libraryProblem = (path: string, room: Room, target: string): string | undefined => {
  if (target.startsWith('@aws-sdk/') && !awsRooms.has(room)) return `${room} may not see the AWS SDK`;
  if (target.startsWith('@aws-sdk/') && path.startsWith('lambdas/stores/dynamodb/') && path !== DYNAMODB_PORT) {
    return `only ${DYNAMODB_PORT} may see the SDK of DynamoDB`;
  }
  if (/^(aws-cdk-lib|constructs)(\/|$)/.test(target) && !cdkRooms.has(room)) return `${room} may not see the CDK`;
  if (room !== 'core' || target === 'node:crypto') return undefined;
  if (target === 'zod' && path.startsWith('lambdas/core/catalog/')) return undefined;
  return 'core takes no library but node:crypto and, in its catalog, zod';
};
