import type { Wire } from '../core/catalog/providers.ts';
import type { TextModel } from '../core/catalog/schema.ts';
import { type GatewayError, invalidRequest } from '../core/errors/gateway-error.ts';
import type { Alternatives } from './alternatives.ts';
import type { IgnoredFields } from './ignored-fields.ts';

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
  /** Of this request with this model. */
  readonly ignored: IgnoredFields;
  /** The vendor protocol, where a client's protocol is served by more than one. */
  readonly wire?: Wire;
  /** Stands before the names of fields, such as `generationConfig.`. */
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
  return invalidRequest(param, `${param}: not supported with "${model.id}". Leave it out.${others}`);
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
