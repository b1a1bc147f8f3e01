import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;

export const text = (value: string): AttributeValue => ({ S: value });
export const number = (value: number | bigint): AttributeValue => ({ N: value.toString() });

const broken = (name: string, kind: string): Error => new Error(`a stored item has no ${kind} "${name}"`);

export const readText = (item: Item, name: string): string => {
  const value = item[name]?.S;
  if (value === undefined) throw broken(name, 'text');
  return value;
};

export const readBigint = (item: Item, name: string): bigint => {
  const value = item[name]?.N;
  if (value === undefined) throw broken(name, 'number');
  return BigInt(value);
};

export const readNumber = (item: Item, name: string): number => Number(readBigint(item, name));

export const readMap = (item: Item, name: string): Item => {
  const value = item[name]?.M;
  if (value === undefined) throw broken(name, 'map');
  return value;
};
