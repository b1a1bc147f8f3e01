import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';
import { createDocument, type ZodOpenApiPathsObject } from 'zod-openapi';
import { errorCodes } from '../lambdas/core/errors/error-codes.ts';
import { type Route, type RouteName, routes } from '../lambdas/routes.ts';
import { errorNotes, toError } from './error-notes.ts';
import type { JsonSchema } from './json-schema.ts';
import { type Body, idOf } from './operation.ts';
import { operations } from './operations.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { bodySchema } from './request-body.ts';
import { responseHeaders } from './response-headers.ts';
import { securitySchemes } from './security.ts';
import { options } from './shown-schema.ts';
import { tagGroups, tags } from './tags.ts';
import { toOperation } from './to-operation.ts';

/** Markdown table of every error code, ordered by status. */
export const errorTable = (): string => {
  const rows = errorCodes
    .map(toError)
    .toSorted((one, other) => one.status - other.status)
    .map(({ status, code }) => `| ${status} | \`${code}\` | ${errorNotes[code].when} |`);
  return ['| status | code | when |', '|---|---|---|', ...rows].join('\n');
};

/** Every error code, ordered by status, with its cause, its fix and a reference to an example of its body. */
const errorRows = () =>
  errorCodes
    .map(toError)
    .toSorted((one, other) => one.status - other.status)
    .map(({ status, code, type }) => ({
      status,
      code,
      type,
      when: errorNotes[code].when,
      fix: errorNotes[code].fix,
      example: { $ref: `#/components/examples/plain.${code}` },
    }));

/** Builds the OpenAPI document in the order of the route table. The same sources give the same bytes. */
export const createReference = (): JsonSchema => {
  const refusals = createRefusals();
  const paths = toPaths(refusals);
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Model gateway',
        version: '1.0.0',
        description: `${introduction()}${errorTable()}\n`,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/' }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      'x-tagGroups': tagGroups,
      'x-errors': errorRows(),
      paths,
      components: {
        schemas: { ...bodySchemas(), ...eventSchemas() },
        responses: refusals.answers(),
        headers: responseHeaders,
        examples: refusals.examples(),
        securitySchemes,
      },
    },
    options,
  );
  return { ...document };
};

const introduction = (): string => readFileSync(join(import.meta.dirname, 'introduction.md'), 'utf8');

const entries = (): (readonly [RouteName, Route])[] => {
  const found: (readonly [RouteName, Route])[] = [];
  let name: RouteName;
  for (name in routes) found.push([name, routes[name]]);
  return found;
};

const methodNames = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete' } as const;

const toPaths = (refusals: Refusals): ZodOpenApiPathsObject => {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, route] of entries()) {
    const operation = toOperation(name, route, operations[name], refusals);
    paths[route.path] = { ...paths[route.path], [methodNames[route.method]]: operation };
  }
  return paths;
};

const bodySchemas = (): Record<string, JsonSchema> => {
  const bodies = Object.values(operations).flatMap(({ json, form }) => [
    ...(json ? [[json, 'json'] as const] : []),
    ...(form ? [[form, 'form'] as const] : []),
  ]);
  return Object.fromEntries(
    bodies.map(([body, kind]: readonly [Body, 'json' | 'form']) => [body.name, bodySchema(body, kind)]),
  );
};

const eventSchemas = (): Record<string, z.ZodType> => {
  const contents = Object.values(operations).flatMap(({ answers }) =>
    Object.values(answers).flatMap(({ content }) => Object.values(content)),
  );
  return Object.fromEntries(contents.flatMap(({ event }) => (event ? [[idOf(event), event]] : [])));
};

export const toText = (document: JsonSchema): string => `${JSON.stringify(document, null, 2)}\n`;
