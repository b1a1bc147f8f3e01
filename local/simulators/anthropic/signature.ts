import { createHash } from 'node:crypto';

/** Returns a signature that is opaque to clients and depends on the text, so that a change of the text is detected. */
export function signatureOf(thinking: string): string {
  return createHash('sha256').update(`simulated thinking: ${thinking}`).digest('base64');
}
