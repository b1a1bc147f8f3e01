import type * as z from 'zod';
import type { oas31 } from 'zod-openapi';
import type { ErrorCode } from '../lambdas/core/errors/error-codes.ts';
import type { JsonObject } from '../lambdas/core/json.ts';
import type { JsonSchema } from './json-schema.ts';
import type { Parameter } from './parameters.ts';
import type { HeaderName } from './response-headers.ts';
import type { Tag } from './tags.ts';

export interface Example {
  readonly summary: string;
  /** Is accepted as it stands by `npm start`. In a form the name of a file stands for its bytes. */
  readonly value: JsonObject;
}

/** What a request carries. */
export interface Body {
  /** Its name among the components. */
  readonly name: string;
  /** The very schema that requests are checked with. */
  readonly schema: z.core.$ZodType;
  /** A sentence for each field, of `more` as well. */
  readonly fields: Readonly<Record<string, string>>;
  /** Fields that are checked by hand, beside the schema or beyond it. */
  readonly more?: Readonly<Record<string, JsonSchema>>;
  /** Fields that only the model's entry demands. */
  readonly alsoRequired?: readonly string[];
  /** What of it no schema tells. */
  readonly description?: string;
  /** Fields of the model's entry may stand beside these. */
  readonly open?: boolean;
  readonly examples: Readonly<Record<string, Example>>;
}

/** What one media type of an answer holds: a schema, and for streams their text. */
export interface Content {
  readonly schema: z.core.$ZodType | oas31.SchemaObject;
  readonly example?: string;
  /** The schema of the data of a server-sent event, which is a component by its id. */
  readonly event?: z.ZodType;
}

/** A stream of server-sent events. OpenAPI 3.1 has no word for one event, so the schema of its data is that of the content. */
export const streamOf = (event: z.ZodType, example: string): Content => {
  const schema = {
    type: 'string',
    contentMediaType: 'text/event-stream',
    contentSchema: { $ref: `#/components/schemas/${idOf(event)}` },
  } as const;
  return { schema, example, event };
};

/** The name of a schema among the components. Throws an Error for a schema without one. */
export const idOf = (schema: z.ZodType): string => {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('a schema that is referred to has an id');
  return id;
};

export interface Answer {
  readonly description: string;
  readonly content: Readonly<Record<string, Content>>;
  readonly headers?: readonly HeaderName[];
}

type PathParameter = readonly [description: string, example: string, form?: RegExp];

/** What is said of a route beyond what its row in the table of routes tells. */
export interface Operation {
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly path?: Readonly<Record<string, PathParameter>>;
  readonly parameters?: readonly Parameter[];
  readonly json?: Body;
  readonly form?: Body;
  /** By status. */
  readonly answers: Readonly<Record<'200' | (string & {}), Answer>>;
  /** Error codes beyond those that follow from the route's credential, limits, body and bill. */
  readonly codes?: readonly ErrorCode[];
}
