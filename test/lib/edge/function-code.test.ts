import { expect, test } from 'vitest';
import { parseAst } from 'vitest/node';
import * as z from 'zod';
import { FUNCTION_BYTES_MAX, mediaFunctionCode, viewerFunctionCode } from '../../../lib/edge/function-code.ts';

const values = { largeBodyOrigin: 'inference', bucketOrigin: 'bucket', mediaOrigin: 'content' };
const codes = { viewer: viewerFunctionCode(values), media: mediaFunctionCode() };

// Syntax that the runtime supports:
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/functions-javascript-runtime-20.html
const es5 =
  'Program Identifier Literal VariableDeclaration VariableDeclarator FunctionDeclaration FunctionExpression BlockStatement ' +
  'ExpressionStatement ReturnStatement IfStatement ForStatement ForInStatement WhileStatement DoWhileStatement BreakStatement ' +
  'ContinueStatement SwitchStatement SwitchCase ThrowStatement TryStatement CatchClause CallExpression MemberExpression ' +
  'NewExpression ObjectExpression Property ArrayExpression BinaryExpression LogicalExpression UnaryExpression UpdateExpression ' +
  'AssignmentExpression ConditionalExpression';
const later = 'ArrowFunctionExpression TemplateLiteral TemplateElement';
const ofModules = 'ImportDeclaration ImportDefaultSpecifier';
const known = new Set(`${es5} ${later} ${ofModules}`.split(' '));

/** Globals that the runtime defines. */
const globals = new Set([
  'Number',
  'Math',
  'Date',
  'Object',
  'RegExp',
  'decodeURIComponent',
  'encodeURIComponent',
  'undefined',
]);
/** Methods that the page lists and the code calls. */
const methods = new Set(
  'exec test now max ceil keys forEach push join trim replace startsWith createRequestOriginGroup selectRequestOriginById'.split(
    ' ',
  ),
);

const nodeSchema = z.looseObject({ type: z.string() });
type Node = z.output<typeof nodeSchema>;

const isNode = (value: unknown): value is Node => nodeSchema.safeParse(value).success;

const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);

const walk = (node: Node): readonly Node[] => [node, ...childrenOf(node).flatMap(walk)];

/** Returns the constructs in the code that the runtime does not support. */
const problemsOf = (code: string): readonly string[] => {
  const program: unknown = parseAst(code);
  const nodes = isNode(program) ? walk(program) : [];
  // Names of members and properties, which do not refer to a variable.
  const labels = new Set(nodes.filter(({ computed }) => !computed).flatMap(({ property, key }) => [property, key]));
  const names = new Set<unknown>([...globals, ...nodes.flatMap(namesOf)]);
  const isUnknownName = (node: Node) => node.type === 'Identifier' && !labels.has(node) && !names.has(node.name);
  return nodes.flatMap((node) => [
    ...(known.has(node.type) ? [] : [node.type]),
    ...(isShort(node) ? ['a short property'] : []),
    ...(isUnknownName(node) ? [`the name ${node.name}`] : []),
    ...methodsOf(node).map((name) => `the method ${name}`),
  ]);
};

const isShort = ({ type, shorthand, computed, method }: Node): boolean =>
  type === 'Property' && [shorthand, computed, method].includes(true);

const calleeSchema = z.object({ property: z.object({ name: z.string() }) });

/** Returns the name of a called method that the runtime does not list. */
const methodsOf = ({ type, callee }: Node): readonly string[] => {
  const called = type === 'CallExpression' ? calleeSchema.safeParse(callee).data?.property.name : undefined;
  return called === undefined || methods.has(called) ? [] : [called];
};

const namesOf = (node: Node): readonly unknown[] => {
  const {
    id,
    params = [],
    local,
    param,
  } = z
    .looseObject({
      params: z.array(nodeSchema).optional(),
      id: nodeSchema.nullish(),
      local: nodeSchema.optional(),
      param: nodeSchema.optional(),
    })
    .parse(node);
  return [id, local, param, ...params].map((one) => one?.name);
};

test.each(Object.entries(codes))('OPS-1 the edge function %s uses only what its runtime supports', (_, code) => {
  expect(problemsOf(code)).toEqual([]);
  expect(Buffer.byteLength(code)).toBeLessThan(FUNCTION_BYTES_MAX);
  // The synthesis has replaced every placeholder.
  expect(code).not.toMatch(/\$[A-Z_]+\$/);
});

test.each([
  ['for (const one of []) one;', 'ForOfStatement'],
  ['const { a } = cf;', 'ObjectPattern'],
  ['const a = { ...cf };', 'SpreadElement'],
  ['cf?.a;', 'ChainExpression'],
  ['class A {}', 'ClassDeclaration'],
  ['function a(b = 1) {}', 'AssignmentPattern'],
  ['const a = 1; const b = { a };', 'a short property'],
  ['fetch;', 'the name fetch'],
  ["'a'.at(0);", 'the method at'],
])('OPS-1 the check reports unsupported code: %s', (code, problem) => {
  expect(problemsOf(`const cf = {}; ${code}`)).toContain(problem);
});
