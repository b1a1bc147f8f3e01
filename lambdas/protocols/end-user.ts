import * as z from 'zod';
import { showAs } from './bounded.ts';

/** CHAT-15: the client's own name for its end user. A code point is at most two UTF-16 units. */
export const endUserName = showAs(
  z.string().refine((text) => text.length <= 512 && [...text].length <= 256, 'must have at most 256 characters'),
  { kind: 'schema', schema: { type: 'string', maxLength: 256 } },
);
