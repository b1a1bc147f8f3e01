import type * as z from 'zod';
import type { oas31 } from 'zod-openapi';
import type { ErrorCode } from '../lambdas/core/errors/error-codes.ts';
import type { JsonObject, JsonValue } from '../lambdas/core/json.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Parameter } from './parameters.ts';
import type { HeaderName } from './response-headers.ts';
import type { Tag } from './tags.ts';

export interface Example {
  readonly summary: string;
  /** Request body that `npm start` accepts unchanged. In a form, a file name represents the file. */
  readonly value: JsonObject;
}

/** Body of a request. */
export interface Body {
  /** Name of the schema component. */
  readonly name: string;
  /** Schema that the gateway checks requests with. */
  readonly schema: z.core.$ZodType;
  /** Description of every field, including those of `more`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Schemas of the fields that code checks instead of, or in addition to, `schema`. */
  readonly more?: Readonly<Record<string, JsonSchema>>;
  /** Fields that are required by the catalog entry, not by `schema`. */
  readonly alsoRequired?: readonly string[];
  /** Requirements that the schema cannot express. */
  readonly description?: string;
  /** Whether fields of the catalog entry are allowed in addition. */
  readonly open?: boolean;
  readonly examples: Readonly<Record<string, Example>>;
}

/** Content of a response with one media type. `schema` describes a body, or the text of a stream. */
export interface Content {
  readonly schema: z.core.$ZodType | oas31.SchemaObject;
  /** Example of a response that no code sample receives: a text, or a JSON value. */
  readonly example?: JsonValue;
  /** Schema of the data of one server-sent event. Must have an id, which names the component. */
  readonly event?: z.ZodType;
}

interface Stream {
  /** Schema of the data of an event. */
  readonly event: z.ZodType;
  /** Schema of the data of an error event, if `event` does not include it. */
  readonly error?: z.ZodType;
  /** Data of the last event, if it is not JSON. */
  readonly end?: string;
  /** Text of a whole stream. */
  readonly example: string;
}

/**
 * Describes a stream of server-sent events: as a text, and as events with the members that a parser of streams returns.
 * OpenAPI 3.1 has one schema for both. `contentSchema` is the schema of the data of an event.
 */
export const streamOf = ({ event, error, end, example }: Stream): Content => {
  const shapes = [event, ...(error ? [error] : [])].map((each) => ({ $ref: `#/components/schemas/${idOf(each)}` }));
  const [only, ...others] = shapes;
  const json = {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: others.length === 0 && only ? only : { anyOf: shapes },
  } as const;
  const schema = {
    type: ['string', 'object'],
    required: ['data'],
    properties: {
      event: { type: 'string', description: 'Name of the event. `message` if the stream has none.' },
      data:
        end === undefined
          ? { ...json, description: 'JSON text.' }
          : { anyOf: [{ const: end }, json], description: `JSON text, at the end \`${end}\`.` },
    },
  } as const satisfies oas31.SchemaObject;
  return { schema, example, event };
};

/** Returns the component name of a schema. Throws an Error if the schema has no id. */
export const idOf = (schema: z.ZodType): string => {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('a referenced schema must have an id');
  return id;
};

export interface Answer {
  readonly description: string;
  readonly content: Readonly<Record<string, Content>>;
  readonly headers?: readonly HeaderName[];
}

type PathParameter = readonly [description: string, example: string, form?: RegExp];

/** Description of a route, in addition to its row in the route table. */
export interface Operation {
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly path?: Readonly<Record<string, PathParameter>>;
  readonly parameters?: readonly Parameter[];
  readonly json?: Body;
  readonly form?: Body;
  /** Body that code samples send if there are both; JSON by default. */
  readonly sampled?: 'form';
  /** Responses by status. */
  readonly answers: Readonly<Record<'200' | (string & {}), Answer>>;
  /** Error codes in addition to those of the route's credential, limits, body and billing. */
  readonly codes?: readonly ErrorCode[];
}
