/**
 * Whether a request with this `Accept-Encoding` accepts gzip. `q=0` excludes a coding, and `*` means every other one:
 * https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3
 */
export const acceptsGzip = (header = ''): boolean => {
  const weights = new Map(header.toLowerCase().split(',').map(toWeight));
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
};

const toWeight = (part: string): readonly [string, number] => {
  const [coding = '', weight = ''] = part.split(';').map((each) => each.trim());
  return [coding, Number(/^q\s*=\s*([\d.]+)$/.exec(weight)?.[1] ?? 1)];
};
