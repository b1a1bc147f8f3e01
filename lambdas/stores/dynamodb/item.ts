/** Stored integers are read as bigint, other numbers as number. A set holds strings. */
export type Value = string | number | bigint | boolean | Uint8Array | ReadonlySet<string> | readonly Value[] | Item;

export interface Item {
  readonly [name: string]: Value;
}

const broken = (name: string, kind: string): Error => new Error(`a stored item has no ${kind} "${name}"`);

export const readText = (item: Item, name: string): string => {
  const value = item[name];
  if (typeof value !== 'string') throw broken(name, 'text');
  return value;
};

export const readBigint = (item: Item, name: string): bigint => {
  const value = item[name];
  if (typeof value !== 'bigint') throw broken(name, 'number');
  return value;
};

export const readNumber = (item: Item, name: string): number => Number(readBigint(item, name));

/** Reads a number that can have a fraction. */
export const readFraction = (item: Item, name: string): number => {
  const value = item[name];
  if (typeof value !== 'bigint' && typeof value !== 'number') throw broken(name, 'number');
  return Number(value);
};

export const readMap = (item: Item, name: string): Item => {
  const value = item[name];
  if (!isMap(value)) throw broken(name, 'map');
  return value;
};

export const isList = (value: Value | undefined): value is readonly Value[] => Array.isArray(value);
export const isSet = (value: Value | undefined): value is ReadonlySet<string> => value instanceof Set;
export const isBytes = (value: Value | undefined): value is Uint8Array => value instanceof Uint8Array;
export const isMap = (value: Value | undefined): value is Item =>
  typeof value === 'object' && !isList(value) && !isSet(value) && !isBytes(value);

/** Returns undefined if the item has no such string. */
export const optionalText = (item: Item, name: string): string | undefined => {
  const value = item[name];
  return typeof value === 'string' ? value : undefined;
};

/** Returns the strings of a list or set; an empty list if the item has none. */
export const readTexts = (item: Item, name: string): readonly string[] => {
  const value = item[name];
  const values: readonly Value[] = isSet(value) ? [...value] : isList(value) ? value : [];
  return values.filter((one) => typeof one === 'string');
};
