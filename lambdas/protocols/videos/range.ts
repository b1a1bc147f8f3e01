import type { ByteRange } from '../../core/videos/dependencies.ts';

type Headers = Readonly<Record<string, string | undefined>>;

const oneRange = /^bytes=(\d*)-(\d*)$/i;

/**
 * VID-4, by RFC 9110, 14: the part of a file that is asked for. Undefined stands for all of it: without a range, with several, with one
 * that cannot be read, or when the client has another file than this one.
 */
export const readRange = (
  { range = '', 'if-range': ifRange }: Headers,
  { bytes, etag }: { readonly bytes: number; readonly etag: string },
): ByteRange | 'unsatisfiable' | undefined => {
  if (ifRange !== undefined && ifRange !== etag) return undefined;
  const [, from, to] = oneRange.exec(range) ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  if (from === '') return toRange(bytes - Math.min(Number(to), bytes), bytes - 1, bytes);
  if (to !== '' && Number(to) < Number(from)) return undefined;
  return toRange(Number(from), to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1), bytes);
};

const toRange = (first: number, last: number, bytes: number): ByteRange | 'unsatisfiable' =>
  first < bytes ? { first, last } : 'unsatisfiable';
