import { createHash } from 'node:crypto';

/** Opaque to clients; bound to the text, so that a gateway that touches it is seen. */
export function signatureOf(thinking: string): string {
  return createHash('sha256').update(`simulated thinking: ${thinking}`).digest('base64');
}
