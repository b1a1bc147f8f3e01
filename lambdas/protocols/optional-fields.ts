import * as z from 'zod';
import type { Wire } from '../core/catalog/providers.ts';
import type { TextModel } from '../core/catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import { formatUsd, parseUsd } from '../core/money/usd.ts';
import type { Form } from '../http/exchange.ts';
import type { Alternatives } from './alternatives.ts';
import type { IgnoredFields } from './fields.ts';
import { showAs, shownName } from './parse.ts';

export type Capability = Exclude<keyof TextModel['capabilities'], 'promptCache'>;

/** A field that not every model or vendor takes (CHAT-16). */
export interface OptionalField<Body> {
  readonly field: keyof Body & string;
  /** How it is listed, where that is not its name. */
  readonly name?: string;
  /** Only models with it take the field. */
  readonly capability?: Capability;
  /** Only these vendor protocols have it. All have it if there is no list. */
  readonly wires?: readonly Wire[];
  /** What else decides. */
  readonly isTaken?: (body: Body, model: TextModel, wire: Wire) => boolean;
  /** Where it is not taken: `list` for a hint, which is ignored and listed, `refuse` for what the caller relies on. */
  readonly otherwise: 'list' | 'refuse';
  /** Whether the value asks for nothing. It is then accepted everywhere, and not sent where the field is not taken. */
  readonly isDefault?: (body: Body, model: TextModel) => boolean;
}

export interface Entry {
  readonly model: TextModel;
  readonly alternatives: Alternatives;
  /** Ignored fields of this request with this model. */
  readonly ignored: IgnoredFields;
  /** The vendor protocol, where a client's protocol is served by more than one. */
  readonly wire?: Wire;
  /** Prefix of the field names, such as `generationConfig.`. */
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

/** Refuses or lists what the model or its vendor does not take. Returns the names of fields that are not to be sent. */
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
    if (otherwise === 'refuse') throw unsupported(field, capability, entry);
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

/** Whether a text has at most this many characters. None takes more than two units, so that megabytes are not counted one by one. */
export const hasAtMost = (text: string, charactersMax: number): boolean =>
  text.length <= charactersMax || (text.length <= charactersMax * 2 && [...text].length <= charactersMax);

/** The words that a picture is made of; how many there may be is for each model to say. */
export const promptText = (problem: string) =>
  showAs(
    z
      .string(problem)
      .refine((text) => text.trim() !== '', problem)
      // A store would keep something else in its place.
      .refine((text) => text.isWellFormed(), 'contains half of a character. Send well-formed Unicode.'),
    { kind: 'schema', schema: { type: 'string', minLength: 1 } },
  );

/** CHAT-15: the client's own name for its end user. A code point is at most two UTF-16 units. */
export const endUserName = showAs(
  z.string().refine((text) => text.length <= 512 && [...text].length <= 256, 'must have at most 256 characters'),
  { kind: 'schema', schema: { type: 'string', maxLength: 256 } },
);

interface AmountBounds {
  /** Pico-USD, both included. */
  readonly leastPicos: bigint;
  readonly mostPicos: bigint;
  /** An amount that a client may have meant. */
  readonly example: string;
}

/** An amount of USD in a body, read into pico-USD: a decimal string, since a number is not exact. */
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

/** For a greatest amount that is a power of ten, and a least one of 0 or of any amount above it. */
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

interface FormFields {
  /** The names that files come under. */
  readonly files: readonly string[];
  /** What such a file holds, to say so where text came in its place. */
  readonly content: string;
  /** Rejects a file in a text field, with an error that says so. */
  isText(name: string): boolean;
}

/** The texts of a form by their names, which are checked as those of JSON are; none may come twice, and none may be a file. */
export const toTextFields = ({ fields, files }: Form, rules: FormFields): Record<string, string> => {
  const seen = new Map<string, string>();
  for (const { name, value } of fields) {
    const shown = shownName(name);
    // An SDK writes the members of an object in brackets.
    const file = rules.files.find((each) => name === each || name.startsWith(`${each}[`));
    if (file) throw invalidRequest(shown, `${shown}: send the ${rules.content} as one file with the name ${file}.`);
    if (seen.has(name)) throw invalidRequest(shown, `${shown}: sent twice. Send it once.`);
    seen.set(name, value);
  }
  const other = files.find(({ field }) => !rules.files.includes(field));
  if (!other) return Object.fromEntries(seen);
  const shown = shownName(other.field);
  const fix = rules.isText(other.field)
    ? 'must be text, not a file.'
    : `unknown file field. Send the file as "${rules.files[0]}".`;
  throw invalidRequest(shown, `${shown}: ${fix}`);
};
