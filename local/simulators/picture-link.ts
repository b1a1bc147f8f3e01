import * as z from 'zod';
import { pictureOf } from './picture.ts';
import type { ImageScenario } from './scenario.ts';
import type { Answer } from './wire.ts';

/**
 * Facts of a linked picture. They are in the link, so that a restarted simulator serves the pictures of the previous
 * one.
 */
const linkedSchema = z.strictObject({
  width: z.int().min(1),
  height: z.int().min(1),
  about: z.string(),
  bytes: z.int().optional(),
  content: z.enum(['empty', 'html', 'broken', 'missing']).optional(),
});

export type LinkedPicture = z.infer<typeof linkedSchema>;

const aboutCharactersMax = 200;

/** Encodes it as a path segment. */
export function toPictureName({ width, height, about }: LinkedPicture, { bytes, content }: ImageScenario = {}): string {
  const linked: LinkedPicture = { width, height, about: about.slice(0, aboutCharactersMax), bytes, content };
  return Buffer.from(JSON.stringify(linked)).toString('base64url');
}

/**
 * Undefined for an invalid name, and for a picture that a scenario makes missing. The caller sends the provider's
 * error.
 */
export function readPictureName(name: string): LinkedPicture | undefined {
  try {
    const linked = linkedSchema.safeParse(JSON.parse(Buffer.from(name, 'base64url').toString('utf8'))).data;
    return linked?.content === 'missing' ? undefined : linked;
  } catch {
    return undefined;
  }
}

export function pictureAnswer({ content, bytes, ...picture }: LinkedPicture): Answer {
  const file = pictureOf(picture, { content, bytes });
  const contentType = content === 'html' ? 'text/html' : 'image/png';
  const breaks = content === 'broken';
  const sent = breaks ? file.subarray(0, Math.floor(file.length / 2)) : file;
  return { kind: 'file', contentType, length: file.length, pieces: [{ bytes: sent, ...(breaks && { breaks }) }] };
}
