import type { RouteName } from '../../lambdas/routes.ts';
import { pictureOf } from '../../local/simulators/picture.ts';
import { wavOf } from './audio-samples.ts';

const BOUNDARY = 'the-boundary-of-the-tests';

export const FORM = `content-type: multipart/form-data; boundary=${BOUNDARY}`;

interface Part {
  readonly name: string;
  readonly fileName?: string;
  readonly content: string | Uint8Array;
}

const toForm = (parts: readonly Part[]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, fileName, content }) => [
      Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"`),
      Buffer.from(`${fileName === undefined ? '' : `; filename="${fileName}"`}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);

/** Returns a form that edits an image with a file of this size. */
export const largeForm = (bytes: number): Buffer => {
  const picture = pictureOf({ width: 64, height: 64, about: 'one' });
  return toForm([
    { name: 'model', content: 'gpt-image-2-prompt' },
    { name: 'prompt', content: 'hi' },
    { name: 'image', fileName: 'one.png', content: Buffer.concat([picture, Buffer.alloc(bytes - picture.length)]) },
  ]);
};

/** Valid forms for the routes that accept only forms. */
export const goodForms: Partial<Record<RouteName, Buffer>> = {
  editImages: toForm([
    { name: 'model', content: 'gpt-image-2-prompt' },
    { name: 'prompt', content: 'hi' },
    { name: 'image', fileName: 'one.png', content: pictureOf({ width: 64, height: 64, about: 'one' }) },
  ]),
  transcribe: toForm([
    { name: 'model', content: 'gpt-transcribe' },
    { name: 'file', fileName: 'one.wav', content: wavOf(1) },
  ]),
};
