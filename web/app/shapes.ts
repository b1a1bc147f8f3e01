/** Checks a value from outside. A library for this would be a third of the whole page. */
export type Is<T> = (value: unknown) => value is T;
export type Checked<Check> = Check extends Is<infer T> ? T : never;

export const isText: Is<string> = (value) => typeof value === 'string';
export const isNumber: Is<number> = (value) => typeof value === 'number';
export const isFlag: Is<boolean> = (value) => typeof value === 'boolean';

/** A decimal string of at most twelve places. */
export const isUsd: Is<string> = (value): value is string =>
  typeof value === 'string' && /^-?\d+(\.\d{1,12})?$/.test(value);

/** ISO 8601, a day or a time. */
export const isMoment: Is<string> = (value): value is string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value));

export const oneOf =
  <const Options extends readonly string[]>(options: Options): Is<Options[number]> =>
  (value): value is Options[number] =>
    options.some((option) => option === value);

export const orNull =
  <T>(is: Is<T>): Is<T | null> =>
  (value): value is T | null =>
    value === null || is(value);

export const orNone =
  <T>(is: Is<T>): Is<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || is(value);

export const listOf =
  <T>(is: Is<T>): Is<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(is);

export const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

export const recordOf =
  <T>(is: Is<T>): Is<Readonly<Record<string, T>>> =>
  (value): value is Readonly<Record<string, T>> =>
    isMembers(value) && Object.values(value).every(is);

type Members<Checks> = { readonly [Name in keyof Checks]: Checked<Checks[Name]> };

/** Returns a check for an object that has at least these members. */
export const withMembers =
  <const Checks extends Readonly<Record<string, Is<unknown>>>>(checks: Checks): Is<Members<Checks>> =>
  (value): value is Members<Checks> =>
    isMembers(value) && Object.entries(checks).every(([name, is]) => is(value[name]));
