import { roomOf } from './import-rules.ts';
import { withoutComments } from './read-imports.ts';

const LINES_MAX = 400;

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

/** A name that says nothing, or a place nobody planned. Folders end in a slash. */
export const pathProblems = (path: string): readonly string[] => {
  const problems: string[] = [];
  const [top = '', ...rest] = path.split('/');
  if (rest.length > 0 && !topFolders.has(top)) problems.push(`${path}: the top-level folder ${top} is unknown`);
  const names = path.split('/').map((name) => name.split('.')[0] ?? '');
  const told = path.startsWith('test/service/') ? names.slice(2) : names;
  const empty = told.find((name) => emptyNames.has(name));
  if (empty) problems.push(`${path}: "${empty}" is no name for anything`);
  return problems;
};

/** What enters the program only as an argument, given by `functions` and `host`. */
const outside: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['process.env', /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[/],
  ['the time', /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\w(\s]))|\bperformance\s*\.\s*now\b/],
  ['randomness', /\bMath\s*\.\s*random\b|\b(?:randomBytes|randomUUID|randomInt|getRandomValues)\b/],
  ['fetch', /(?<![.\w#])fetch\s*\(|\bglobalThis\s*(?:\.\s*fetch\b|\[)/],
];

/** What the text of a file says that it should not. */
export const sourceProblems = (path: string, source: string): readonly string[] => {
  const problems: string[] = [];
  const lines = source.split('\n').length - 1;
  if (/^(lambdas|lib|local|reference|bin|web)\/.*\.tsx?$/.test(path) && lines > LINES_MAX) {
    problems.push(`${path} has ${lines} lines, more than ${LINES_MAX}`);
  }
  const room = roomOf(path);
  if (!path.startsWith('lambdas/') || room === 'functions' || room === 'host') return problems;
  const code = withoutComments(source);
  const paid = /\b(placeHold|commitCharge|applyCharge)\(/.exec(code)?.[1];
  if (paid && !/^lambdas\/core\/paid-call\/(with-paid-call|settle)\.ts$/.test(path)) {
    problems.push(`${path} calls ${paid}: use withPaidCall or withReservation`);
  }
  for (const [name, pattern] of outside) {
    if (pattern.test(code)) problems.push(`${path} takes ${name} by itself`);
  }
  return problems;
};
