/**
 * Returns the number of pages of a PDF in base64; undefined if it is not a PDF. Pages inside compressed objects are not
 * found, so the result is at least one.
 */
export function pdfPages(base64: string): number | undefined {
  const text = Buffer.from(base64, 'base64').toString('latin1');
  if (!text.startsWith('%PDF-')) return undefined;
  return Math.max(1, text.match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0);
}
