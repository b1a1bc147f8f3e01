import * as z from 'zod';
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { formatOf } from '../../lambdas/http/client-format.ts';
import { isKeyCredential } from '../../lambdas/http/credential.ts';
import type { Route, RouteName } from '../../lambdas/routes.ts';
import { dryRunAnswer } from './answers/dry-run.ts';
import type { Answer, Content, Operation } from './operation.ts';
import { dryRun } from './parameters.ts';
import type { Refusals } from './refusals.ts';
import { requestBodyOf } from './request-body.ts';
import { type HeaderName, headerReferences, rateHeaders } from './response-headers.ts';
import { securityOf } from './security.ts';

/** A route of the table as OpenAPI describes it. */
export const toOperation = (
  name: RouteName,
  route: Route,
  operation: Operation,
  refusals: Refusals,
): ZodOpenApiOperationObject => {
  const body = requestBodyOf(operation);
  return {
    operationId: name,
    tags: [operation.tag],
    summary: operation.summary,
    description: describe(route, operation),
    security: securityOf(route.credential),
    parameters: parametersOf(route, operation),
    ...(body && { requestBody: body }),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.answers).map(([status, answer]) => [status, toAnswer(route, status, answer)]),
      ),
      ...refusals.of(name, route, operation.codes ?? []),
    },
  };
};

const describe = ({ alsoAt }: Route, { description }: Operation): string =>
  alsoAt
    ? `${description}\n\nThe same is served at ${alsoAt.map((path) => `\`${path}\``).join(' and ')}.`
    : description;

const parametersOf = (route: Route, operation: Operation): oas31.ParameterObject[] => [
  ...pathParametersOf(route, operation),
  ...(operation.parameters ?? []),
  ...(route.billed ? [dryRun] : []),
];

const pathParametersOf = ({ path }: Route, operation: Operation): oas31.ParameterObject[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const described = operation.path?.[name];
    if (!described) throw new Error(`${path}: {${name}} has no description`);
    const [description, example] = described;
    return { in: 'path', name, required: true, description, schema: { type: 'string' }, example };
  });

const toAnswer = (route: Route, status: string, answer: Answer): ZodOpenApiResponseObject => {
  const headers: HeaderName[] = [
    'x-request-id',
    ...(formatOf(route.path, {}) === 'messages' ? (['request-id'] as const) : []),
    ...(isKeyCredential(route.credential) ? rateHeaders : []),
    ...(answer.headers ?? []),
  ];
  const content: Record<string, Content> = { ...answer.content };
  const { 'application/json': whole } = content;
  if (route.billed && status === '200') {
    content['application/json'] = { ...whole, schema: whole ? z.union([zodOf(whole), dryRunAnswer]) : dryRunAnswer };
  }
  return {
    description: answer.description,
    headers: headerReferences(headers),
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema, example }]) => [
        type,
        { schema, ...(example !== undefined && { example }) },
      ]),
    ),
  };
};

/** What may be answered in place of a dry run's answer is one of ours. */
const zodOf = ({ schema }: Content): z.ZodType => {
  if (schema instanceof z.ZodType) return schema;
  throw new Error('a JSON answer of a billed route is described by a schema of zod');
};
