import * as z from 'zod';
import type { JsonValue } from '../../core/json.ts';
import { showAs } from '../bounded.ts';
import { type FieldPolicy, fields } from '../fields.ts';

/** A protobuf message as JSON. Its unknown members are listed unless the policy says otherwise. */
export const message = <Shape extends z.core.$ZodLooseShape>(shape: Shape, policy: Partial<FieldPolicy> = {}) =>
  fields(shape, { unknown: 'list', ...policy, spelling: 'proto' });

/** The name of an enum value, which the vendor reads in any case. It is sent on as it came. */
export const enumName = (...names: readonly string[]) =>
  showAs(
    z
      .string()
      .refine(
        (name) => names.some((known) => known.toUpperCase() === name.toUpperCase()),
        `must be one of ${names.map((name) => JSON.stringify(name)).join(', ')}`,
      ),
    { kind: 'schema', schema: { type: 'string', enum: names } },
  );

/** Any JSON, not looked into. */
export const anyJson = showAs(z.custom<JsonValue>(), { kind: 'schema', schema: {} });
