import { type Item, isBytes, isList, isSet, type Value } from './item.ts';

/** A value in the format of the wire. Bytes are in base64 there; the SDK has decoded those that it returns. */
export interface AttributeValue {
  readonly S?: string | undefined;
  readonly N?: string | undefined;
  readonly B?: string | Uint8Array | undefined;
  readonly BOOL?: boolean | undefined;
  readonly NULL?: boolean | undefined;
  readonly M?: AttributeValues | undefined;
  readonly L?: readonly AttributeValue[] | undefined;
  readonly SS?: readonly string[] | undefined;
}

export interface AttributeValues {
  readonly [name: string]: AttributeValue;
}

const toAttribute = (value: Value): AttributeValue => {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value !== 'object') return { N: value.toString() };
  if (isBytes(value)) return { B: Buffer.from(value).toString('base64') };
  if (isSet(value)) return { SS: [...value] };
  if (isList(value)) return { L: value.map(toAttribute) };
  return { M: toAttributes(value) };
};

/** Converts an item to the format of the wire. */
export const toAttributes = (item: Item): AttributeValues => {
  const attributes: Record<string, AttributeValue> = {};
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== undefined) attributes[name] = toAttribute(value);
  }
  return attributes;
};

export const toNumber = (digits: string): bigint | number => (/^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits));

const toBytes = (bytes: string | Uint8Array): Uint8Array =>
  typeof bytes === 'string' ? new Uint8Array(Buffer.from(bytes, 'base64')) : bytes;

/** Returns undefined for a type that no store writes. */
const toValue = ({ S, N, B, BOOL, M, L, SS }: AttributeValue): Value | undefined => {
  if (S !== undefined) return S;
  if (N !== undefined) return toNumber(N);
  if (B !== undefined) return toBytes(B);
  if (BOOL !== undefined) return BOOL;
  if (M !== undefined) return toItem(M);
  if (L !== undefined) return L.map(toValue).filter((value) => value !== undefined);
  return SS && new Set(SS);
};

/** Converts an item from the format of the wire, which the table's stream uses as well. */
export const toItem = (attributes: AttributeValues): Item => {
  const item: Record<string, Value> = {};
  for (const name of Object.keys(attributes)) {
    const attribute = attributes[name];
    const value = attribute && toValue(attribute);
    if (value !== undefined) item[name] = value;
  }
  return item;
};
