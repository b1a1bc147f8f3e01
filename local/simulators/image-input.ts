const signatures: readonly { readonly type: string; readonly matches: (bytes: Buffer) => boolean }[] = [
  { type: 'image/png', matches: (bytes) => bytes.subarray(0, 8).toString('hex') === '89504e470d0a1a0a' },
  { type: 'image/jpeg', matches: (bytes) => bytes.subarray(0, 3).toString('hex') === 'ffd8ff' },
  { type: 'image/gif', matches: (bytes) => /^GIF8[79]a$/.test(bytes.subarray(0, 6).toString('latin1')) },
  {
    type: 'image/webp',
    matches: (bytes) =>
      bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP',
  },
];

const typesByEnding: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

export type ImageInput =
  | { readonly kind: 'image'; readonly mediaType: string }
  | { readonly kind: 'unsupported' }
  | { readonly kind: 'unreachable' };

/** Returns how the provider treats an image URL. Nothing is fetched. Hosts under `.invalid` are unreachable. */
export function readImageInput(url: string): ImageInput {
  const data = /^data:[^,]*;base64,/.exec(url.slice(0, 200));
  if (data !== null) {
    const start = Buffer.from(url.slice(data[0].length, data[0].length + 64), 'base64');
    const known = signatures.find(({ matches }) => matches(start));
    return known === undefined ? { kind: 'unsupported' } : { kind: 'image', mediaType: known.type };
  }
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return { kind: 'unsupported' };
  if (parsed.hostname.endsWith('.invalid')) return { kind: 'unreachable' };
  const ending = parsed.pathname.split('.').at(-1)?.toLowerCase() ?? '';
  return { kind: 'image', mediaType: typesByEnding[ending] ?? 'image/png' };
}
