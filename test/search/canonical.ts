/** Returns the same text for equal values, in any member order. Undefined members are omitted. */
export const canonical = (value: unknown): string => {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value === undefined ? '-' : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const pairs = value instanceof Map ? [...value.entries()] : Object.entries(value);
  const returned = pairs
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => `${name}:${canonical(member)}`)
    .sort();
  return `{${returned.join(',')}}`;
};

/** Assigns numbers to values. Equal values have the same number. */
export class Interned<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(value: T): number {
    const key = canonical(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.values.length);
    this.values.push(value);
    return this.values.length - 1;
  }

  at(number: number): T {
    const value = this.values[number];
    if (value === undefined) throw new Error(`no value has the number ${number}`);
    return value;
  }
}
