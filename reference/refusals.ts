import * as z from 'zod';
import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { type ErrorCode, errorCodes } from '../lambdas/core/errors/error-codes.ts';
import { isKeyCredential } from '../lambdas/http/authenticate.ts';
import { type ClientFormat, formatOf, toErrorBody } from '../lambdas/http/render-error.ts';
import type { Route, RouteName } from '../lambdas/routes.ts';
import { codesOfRoute } from './error-codes.ts';
import { errorNotes, toError } from './error-notes.ts';
import { errorSchemas } from './error-schemas.ts';
import { type HeaderName, headerReferences, rateHeaders } from './response-headers.ts';

export interface Refusals {
  /** One error response for each status of the route's codes. */
  of(name: RouteName, route: Route, more: readonly ErrorCode[]): ZodOpenApiResponsesObject;
  /** Response components that the results of `of` refer to. */
  answers(): Record<string, ZodOpenApiResponseObject>;
  examples(): Record<string, oas31.ExampleObject>;
}

type Formats = readonly [ClientFormat, ...ClientFormat[]];

/** Returns the error formats of a route. The model lists choose the format by the client's headers (CAT-7). */
const formatsOf = ({ path }: Route): Formats => {
  const [first, ...others] = new Set(
    [{}, { 'x-api-key': '' }, { 'x-goog-api-key': '' }].map((headers) => formatOf(path, headers)),
  );
  return [first ?? 'plain', ...others];
};

const REQUEST_ID = '01KAJ2Z8D5M8R3V0C7Q4T9XW1B';

/**
 * Shares equal error responses between operations. Each is one component, named after the first operation that uses it.
 * Otherwise errors would be half of the document.
 */
export const createRefusals = (): Refusals => {
  const names = new Map<string, string>();
  const answers = new Map<string, ZodOpenApiResponseObject>();
  const examples = new Map<string, oas31.ExampleObject>();

  const exampleOf = (format: ClientFormat, code: ErrorCode): oas31.ReferenceObject => {
    const name = `${format}.${code}`;
    const value = toErrorBody(toError(code), format, REQUEST_ID);
    examples.set(name, { summary: `when ${errorNotes[code].when}`, value });
    return { $ref: `#/components/examples/${name}` };
  };

  const answerOf = (
    name: string,
    { formats, limited }: Callers,
    codes: readonly ErrorCode[],
  ): oas31.ReferenceObject => {
    const [format, ...others] = formats;
    const key = [...formats, limited, ...codes].join(' ');
    const known = names.get(key) ?? name;
    names.set(key, known);
    answers.set(known, {
      description: codes.map((code) => `\`${code}\` when ${errorNotes[code].when}.`).join(' '),
      headers: headerReferences(headersOf(codes, { format, limited })),
      content: {
        'application/json': {
          schema: others.length === 0 ? errorSchemas[format] : z.union(formats.map((each) => errorSchemas[each])),
          examples: Object.fromEntries(codes.map((code) => [code, exampleOf(format, code)])),
        },
      },
    });
    return { $ref: `#/components/responses/${known}` };
  };

  return {
    of: (name, route, more) => {
      const callers = { formats: formatsOf(route), limited: isKeyCredential(route.credential) };
      const possible = new Set([...codesOfRoute(route), ...more]);
      const codes = errorCodes.filter((code) => possible.has(code));
      const byStatus = [...Map.groupBy(codes, (code) => toError(code).status)];
      // A client of Anthropic's format keeps its provider's status (ERR-9).
      if (callers.formats[0] === 'messages' && possible.has('upstream_capacity'))
        byStatus.push([529, ['upstream_capacity']]);
      return Object.fromEntries(
        byStatus
          .toSorted(([one], [other]) => one - other)
          .map(([status, found]) => [status, answerOf(`${name}.${status}`, callers, found)]),
      );
    },
    answers: () => Object.fromEntries(answers),
    examples: () => Object.fromEntries(examples),
  };
};

/** Properties of a route that affect the headers of its errors. */
interface Callers {
  /** At least one. */
  readonly formats: Formats;
  /** Whether requests count against the limit of an API key. */
  readonly limited: boolean;
}

/** Statuses of errors that precede the API key check. They have no rate limit headers (LIM-5). */
const beforeKeys: ReadonlySet<number> = new Set([401, 405]);

const headersOf = (
  codes: readonly ErrorCode[],
  { format, limited }: { readonly format: ClientFormat; readonly limited: boolean },
): HeaderName[] => {
  const headers: HeaderName[] = ['x-request-id'];
  if (format === 'messages') headers.push('request-id');
  if (limited && codes.some((code) => !beforeKeys.has(toError(code).status))) headers.push(...rateHeaders);
  if (codes.some((code) => toError(code).retryAfterSeconds !== undefined)) headers.push('Retry-After');
  if (codes.includes('idempotency_exhausted')) headers.push('x-should-retry');
  if (codes.includes('method_not_allowed')) headers.push('Allow');
  if (codes.includes('range_not_satisfiable')) headers.push('Content-Range');
  return headers;
};
