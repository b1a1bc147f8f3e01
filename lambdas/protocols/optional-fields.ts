import * as z from 'zod';
import type { Wire } from '../core/catalog/providers.ts';
import type { TextModel } from '../core/catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { formatUsd, parseUsd } from '../core/money/usd.ts';
import type { Alternatives } from './alternatives.ts';
import type { IgnoredFields } from './fields.ts';
import { showAs } from './parse.ts';

export type Capability = Exclude<keyof TextModel['capabilities'], 'promptCache'>;

type Otherwise = 'list' | 'refuse' | 'replace';

/** A field that not every model or provider accepts (CHAT-16). */
export interface OptionalField<Body> {
  readonly field: keyof Body & string;
  /** Name in the list of ignored fields, if it differs from `field`. */
  readonly name?: string;
  /** Capability that a model needs for the field. */
  readonly capability?: Capability;
  /** Provider protocols that have the field. Undefined means all. */
  readonly wires?: readonly Wire[];
  /** Further condition for accepting the field. */
  readonly isTaken?: (body: Body, model: TextModel, wire: Wire) => boolean;
  /**
   * Treatment where the field is not accepted: `list` ignores and lists a hint, `refuse` rejects a field that the
   * caller relies on, `replace` does not send a field whose work the gateway does itself.
   */
  readonly otherwise: Otherwise | ((wire: Wire) => Otherwise);
  /** Whether the value has no effect. It is then accepted everywhere, and not sent where the field is not supported. */
  readonly isDefault?: (body: Body, model: TextModel) => boolean;
}

export interface Entry {
  readonly model: TextModel;
  readonly alternatives: Alternatives;
  /** Ignored fields of this request with this model. */
  readonly ignored: IgnoredFields;
  /** Provider protocol, if more than one serves the client's protocol. */
  readonly wire?: Wire;
  /** Prefix of field names, such as `generationConfig.`. */
  readonly at?: string;
}

export const unsupported = (
  field: string,
  capability: Capability | undefined,
  { model, alternatives, at = '' }: Pick<Entry, 'model' | 'alternatives' | 'at'>,
): GatewayError => {
  const param = `${at}${field}`;
  const others =
    capability && !model.capabilities[capability] ? alternatives(({ capabilities }) => capabilities[capability]) : '';
  return invalidRequest(param, `${param}: not supported with "${model.id}". Remove it.${others}`);
};

/**
 * Rejects or lists the fields that the model or its provider does not accept. Returns the names of the fields that must
 * not be sent.
 */
export const withoutUnsupported = <Body extends object>(
  rows: readonly OptionalField<Body>[],
  body: Body,
  entry: Entry,
): Set<string> => {
  const unsent = new Set<string>();
  for (const row of rows) {
    const { field, name = field, capability, otherwise, isDefault } = row;
    if (body[field] === undefined || body[field] === null || isTaken(row, body, entry)) continue;
    unsent.add(field);
    if (isDefault?.(body, entry.model)) continue;
    const treatment = typeof otherwise === 'function' ? otherwise(entry.wire ?? 'openai_chat') : otherwise;
    if (treatment === 'replace') continue;
    if (treatment === 'refuse') throw unsupported(field, capability, entry);
    entry.ignored.add([`${entry.at ?? ''}${name}`]);
  }
  return unsent;
};

export const isTaken = <Body>(
  { capability, wires, isTaken: decide }: OptionalField<Body>,
  body: Body,
  { model, wire = 'openai_chat' }: Pick<Entry, 'model' | 'wire'>,
): boolean =>
  (!capability || model.capabilities[capability]) &&
  (!wires || wires.includes(wire)) &&
  (!decide || decide(body, model, wire));

/**
 * Whether a text has at most this many characters. A character has at most two UTF-16 units, so most long texts need no
 * counting.
 */
export const hasAtMost = (text: string, charactersMax: number): boolean =>
  text.length <= charactersMax || (text.length <= charactersMax * 2 && [...text].length <= charactersMax);

/** Prompt for an image or a video. Each model has its own maximum length. */
export const promptText = (problem: string) =>
  showAs(
    z
      .string(problem)
      .refine((text) => text.trim() !== '', problem)
      // Stores would replace the half character.
      .refine((text) => text.isWellFormed(), 'contains half of a character. Send well-formed Unicode.'),
    { kind: 'schema', schema: { type: 'string', minLength: 1 } },
  );

/** CHAT-15: the client's name for its end user. A code point has at most two UTF-16 units. */
export const endUserName = showAs(
  z.string().refine((text) => text.length <= 512 && [...text].length <= 256, 'must have at most 256 characters'),
  { kind: 'schema', schema: { type: 'string', maxLength: 256 } },
);

interface AmountBounds {
  /** Pico-USD, inclusive. */
  readonly leastPicos: bigint;
  readonly mostPicos: bigint;
  /** Example of an amount for the error message. */
  readonly example: string;
}

/** Amount of USD in a body, converted to pico-USD. It is a decimal string, because a JSON number is not exact. */
export const usdAmount = ({ leastPicos, mostPicos, example }: AmountBounds) => {
  const message = `must be a decimal string of USD such as "${example}", from ${formatUsd(leastPicos)} to ${formatUsd(mostPicos)}, with at most 12 decimals`;
  const amount = z.string(message).transform((text, context): bigint => {
    const picos = toPicos(text);
    if (picos !== undefined && picos >= leastPicos && picos <= mostPicos) return picos;
    context.issues.push({ code: 'custom', message: `${message}.`, input: undefined });
    return z.NEVER;
  });
  return showAs(amount, { kind: 'schema', schema: { type: 'string', pattern: patternOf(leastPicos, mostPicos) } });
};

/** JSON schema pattern of an amount. The maximum must be a power of ten. A minimum above 0 only excludes 0. */
const patternOf = (leastPicos: bigint, mostPicos: bigint): string => {
  const most = formatUsd(mostPicos);
  const below = `(0|[1-9]\\d{0,${most.length - 2}})(\\.\\d{1,12})?`;
  return `^${leastPicos > 0n ? '(?!0(\\.0+)?$)' : ''}(${below}|${most}(\\.0{1,12})?)$`;
};

const toPicos = (text: string): bigint | undefined => {
  try {
    return parseUsd(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
};
