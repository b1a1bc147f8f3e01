import { createHash } from 'node:crypto';
import * as z from 'zod';

/** One key of a provider. */
export interface Credential {
  /** Never shown, logged or stored. */
  readonly key: string;
  /** Share of the calls, relative to the other credentials of the provider. At 0 only jobs that it created use it. */
  readonly weight: number;
  /** Name in logs: the configured name, or the position such as `#2`. */
  readonly label: string;
  /** First 16 hexadecimal digits of the key's SHA-256. Jobs store it, so it must not depend on name or position. */
  readonly id: string;
}

const CREDENTIALS_MAX = 20;

const WEIGHT_MAX = 1_000;

const itemSchema = z.strictObject(
  {
    key: z.string('must be a string').regex(/^[\x21-\x7e]{1,1000}$/, 'must have 1 to 1000 visible ASCII characters'),
    weight: z
      .number('must be a number')
      .refine((weight) => Number.isInteger(weight) && weight >= 0 && weight <= WEIGHT_MAX, {
        message: `must be a whole number from 0 to ${WEIGHT_MAX}`,
      })
      .default(1),
    name: z
      .string('must be a string')
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/,
        'must have 1 to 40 letters, digits and . _ -, of which the first is a letter or digit',
      )
      .optional(),
  },
  // Never names a field or value of the input, because an operator can put a key anywhere.
  { error: 'must be an object with key and, if needed, weight and name. Remove other fields' },
);

const listSchema = z
  .array(itemSchema)
  .min(1, 'must have at least one credential')
  .max(CREDENTIALS_MAX, `must have at most ${CREDENTIALS_MAX} credentials`);

type Item = z.infer<typeof itemSchema>;

/**
 * Reads the value of a provider's variable: a key, or a JSON list of `{key, weight?, name?}`. Returns an empty list for
 * an empty value. Throws an Error that names the variable and the field, and never quotes the value.
 */
export const parseCredentials = (variable: string, value: string | undefined): readonly Credential[] => {
  const text = value?.trim() ?? '';
  if (text === '') return [];
  if (!/^[[{]/.test(text)) return [toCredential({ key: text, weight: 1 }, 0)];
  const found = listSchema.safeParse(parsed(text));
  if (!found.success) throw invalid(variable, found.error.issues);
  const problem = conflictIn(found.data);
  if (problem !== undefined) throw new Error(`${variable}${problem}`);
  return found.data.map(toCredential);
};

const toCredential = ({ key, weight, name }: Item, index: number): Credential => ({
  key,
  weight,
  label: name ?? `#${index + 1}`,
  id: createHash('sha256').update(key).digest('hex').slice(0, 16),
});

const invalid = (variable: string, [issue]: readonly z.core.$ZodIssue[]): Error => {
  const path = issue?.path ?? [];
  const place = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const message = path.length === 0 && issue?.code === 'invalid_type' ? NO_LIST : issue?.message;
  return new Error(`${variable}${place}: ${message}.`);
};

const NO_LIST = 'must be a key, or a JSON list such as [{"key": "...", "weight": 2, "name": "main"}]';

/** Returns the place and the problem of credentials that are valid alone but not together. */
const conflictIn = (items: readonly Item[]): string | undefined => {
  const keys = items.map(({ key }) => key);
  if (items.every(({ weight }) => weight === 0)) return ': must have a credential with a weight above 0.';
  const names = items.map(({ name }) => name);
  const index = items.findIndex(
    ({ key, name }, at) => keys.indexOf(key) < at || (name !== undefined && names.indexOf(name) < at),
  );
  if (index >= 0) return `[${index}]: has the key or the name of an earlier credential. Use each once.`;
  const shown = names.findIndex((name) => name !== undefined && keys.includes(name));
  return shown < 0 ? undefined : `[${shown}].name: must not be a key, because logs show names.`;
};

/** Returns undefined for invalid JSON. The error of the parser is dropped, because it quotes the value. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
