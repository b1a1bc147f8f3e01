import { DYNAMODB_SDK, moduleOf } from './import-rules.ts';
import { isProduct, withoutComments } from './read-imports.ts';

const topFolders = new Set(['bin', 'lib', 'local', 'reference', 'lambdas', 'catalog', 'web', 'test', 'bench', 'docs']);
const emptyNames = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'common',
  'shared',
  'manager',
  'service',
  'services',
]);

/** Problems of a path: an empty name or an unknown top-level folder. Paths of folders end in a slash. */
export const pathProblems = (path: string): readonly string[] => {
  const problems: string[] = [];
  const [top = '', ...rest] = path.split('/');
  if (rest.length > 0 && !topFolders.has(top)) problems.push(`${path}: the top-level folder ${top} is unknown`);
  const names = path.split('/').map((name) => name.split('.')[0] ?? '');
  const checked = path.startsWith('test/service/') ? names.slice(2) : names;
  const empty = checked.find((name) => emptyNames.has(name));
  if (empty) problems.push(`${path}: the name "${empty}" does not say what is in it`);
  return problems;
};

/** Inputs that the program gets only as arguments, from `functions` and `host`. */
const outside: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['process.env', /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[/],
  ['the time', /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\w(\s]))|\bperformance\s*\.\s*now\b/],
  ['randomness', /\bMath\s*\.\s*random\b|\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/],
  ['fetch', /(?<![.\w#])fetch\s*\(|\bglobalThis\s*(?:\.\s*fetch\b|\[)/],
];

/** Inputs that a source of `lambdas` takes from outside instead of its arguments. */
export const sourceProblems = (path: string, source: string): readonly string[] => {
  const module = moduleOf(path);
  if (!path.startsWith('lambdas/') || module === 'functions' || module === 'host') return [];
  const code = withoutComments(source);
  return outside.filter(([, pattern]) => pattern.test(code)).map(([name]) => `${path} reads ${name} itself`);
};

/**
 * Modules that may read `process.env`, because they start a process. Pages are included, because they run in a browser,
 * which has no environment.
 */
const readsEnvironment = new Set(['functions', 'host', 'bin', 'test', 'bench', 'root', 'web', 'local-ui']);

export const readsEnvironmentAnywhere = (path: string, source: string): boolean =>
  !readsEnvironment.has(moduleOf(path) ?? '') && /\bprocess\.env\b/.test(withoutComments(source));

const assignment =
  /\bprocess\.env(?:\.\w+|\[[^\]]+\])\s*(?:[?|&]{2})?=(?!=)|Object\.assign\(process\.env\b|\bdelete process\.env\b/;

/** Whether a file changes the environment of the process, which all files of the process share. */
export const assignsEnvironment = (source: string): boolean => assignment.test(withoutComments(source));

const paidCall = /^lambdas\/core\/paid-call\/(?:with-paid-call|settle)\.ts$/;

/** Calls that only files whose path matches `places` may make. */
const calls: readonly (readonly [call: string, pattern: RegExp, places: RegExp])[] = [
  [
    'new Command of the AWS SDK',
    /\bnew \w+Command\(/,
    new RegExp(
      `^(?:${DYNAMODB_SDK}|lambdas/stores/(?:eventbridge|s3|step-functions)/|lambdas/functions/wiring/|bin/|local/)`,
    ),
  ],
  ['placeHold', /\bplaceHold\(/, paidCall],
  ['commitCharge', /\bcommitCharge\(/, paidCall],
  ['applyCharge', /\bapplyCharge\(/, paidCall],
];

/** Calls that a product file makes in the wrong place, as `<file>: <call>`. */
export const callProblems = (path: string, source: string): readonly string[] => {
  if (!isProduct(path)) return [];
  const code = withoutComments(source);
  const wrong = calls.filter(([, pattern, places]) => !places.test(path) && pattern.test(code));
  return wrong.map(([call]) => `${path}: ${call}`);
};
