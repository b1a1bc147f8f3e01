import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { oas31, ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { type JsonValue, parseJson } from '../lambdas/core/json.ts';
import { isKeyCredential } from '../lambdas/http/authenticate.ts';
import { formatOf } from '../lambdas/http/render-error.ts';
import { ignoresUnknown } from '../lambdas/protocols/fields.ts';
import { DRY_RUN_TYPE } from '../lambdas/protocols/paid-response.ts';
import type { Route, RouteName } from '../lambdas/routes.ts';
import { usd } from './answers/forms.ts';
import type { Answer, Content, Operation } from './operation.ts';
import { dryRun, requireParameters } from './parameters.ts';
import type { Refusals } from './refusals.ts';
import { requestBodyOf } from './request-body.ts';
import { type HeaderName, headerReferences, rateHeaders } from './response-headers.ts';
import { codeSamplesOf } from './samples/code-samples.ts';
import { securityOf } from './security.ts';

/** Response of a dry run (BILL-16). */
export const dryRunAnswer = z
  .looseObject({
    object: z.literal('dry_run'),
    model: z.string(),
    hold_usd: usd.describe('Amount of the hold in USD.'),
    max_tokens: z
      .int()
      .min(0)
      .nullable()
      .describe('Maximum number of output tokens. Null if the output is not limited in tokens.'),
    prices_usd: z
      .record(z.string(), usd)
      .describe('USD for one unit of each count, such as one token, with the names of `usage` in a receipt.'),
    prices: z.record(z.string(), usd).describe('Earlier name of `prices_usd`.'),
    estimate_factor: z
      .number()
      .min(1)
      .max(4)
      .optional()
      .describe(
        'Factor on the estimated prompt tokens in `hold_usd`, only for text. It is above 1 for some days after a charge above its hold.',
      ),
  })
  .meta({ id: 'DryRun', description: "Response to `X-Service-Dry-Run: true`, instead of the model's output." });

/** Converts a row of the route table to an OpenAPI operation. */
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
        Object.entries(operation.answers).map(([status, answer]) => [
          status,
          toAnswer(name, route, status, operation, answer),
        ]),
      ),
      ...refusals.of(name, route, operation.codes ?? []),
    },
    'x-codeSamples': codeSamplesOf(name, route, operation),
  };
};

const describe = ({ alsoAt }: Route, { description }: Operation): string =>
  alsoAt ? `${description}\n\nAlso available at ${alsoAt.map((path) => `\`${path}\``).join(' and ')}.` : description;

const parametersOf = (route: Route, operation: Operation): oas31.ParameterObject[] => [
  ...pathParametersOf(route, operation),
  ...(operation.parameters ?? []),
  ...(route.billed ? [dryRun] : []),
  ...(ignoresFields(operation) ? [requireParameters] : []),
];

/** Whether the operation ignores unknown fields (GEN-16). */
const ignoresFields = ({ json }: Operation): boolean => json !== undefined && ignoresUnknown(json.schema);

const pathParametersOf = ({ path }: Route, operation: Operation): oas31.ParameterObject[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const described = operation.path?.[name];
    if (!described) throw new Error(`${path}: {${name}} has no description`);
    const [description, example, form] = described;
    const schema = { type: 'string', ...(form && { pattern: form.source }) } as const;
    return { in: 'path', name, required: true, description, schema, example };
  });

const toAnswer = (
  name: RouteName,
  route: Route,
  status: string,
  operation: Operation,
  answer: Answer,
): ZodOpenApiResponseObject => {
  const headers: HeaderName[] = [
    'x-request-id',
    ...(formatOf(route.path, {}) === 'messages' ? (['request-id'] as const) : []),
    ...(isKeyCredential(route.credential) ? rateHeaders : []),
    ...(answer.headers ?? []),
    ...(ignoresFields(operation) ? (['X-Service-Ignored-Parameters'] as const) : []),
  ];
  const content: Record<string, Content> = { ...answer.content };
  // The dry run has its own media type, so a normal JSON response keeps one schema. It comes last, because generators take
  // the first content for the response.
  if (route.billed && status === '200') content[DRY_RUN_TYPE] = { schema: dryRunAnswer };
  return {
    description: answer.description,
    headers: headerReferences(headers),
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema, example = recordedAnswer(name, status, type) }]) => [
        type,
        { schema, ...(example !== undefined && { example }) },
      ]),
    ),
  };
};

/**
 * File of the response that a test received for the curl sample of a route, with fixed ids and times: a JSON value, or
 * the text of a stream.
 */
export const recordedFile = (name: RouteName, status: string, mediaType: string): string =>
  join(import.meta.dirname, 'recorded', `${name}.${status}.${mediaType.replaceAll(/\W+/g, '-')}.json`);

const recordedAnswer = (name: RouteName, status: string, mediaType: string): JsonValue | undefined => {
  const file = recordedFile(name, status, mediaType);
  return existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : undefined;
};
