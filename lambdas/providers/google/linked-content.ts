import { GatewayError } from '../../core/errors/gateway-error.ts';
import { StoreError } from '../../core/errors/store-error.ts';
import type { ImageMediaType } from '../../core/image-type.ts';
import type { Part } from './chunk.ts';
import { textOf } from './function-calls.ts';
import { decodeImage, imageDataOf } from './image-bytes.ts';

/** An image and the address it will be found at: known at once, there once it is stored, which throws StoreError. */
export type LinkImage = (
  bytes: Uint8Array,
  mediaType: ImageMediaType,
) => { readonly url: string; readonly store: () => Promise<void> };

/**
 * What one answer says, as one text: an image stands in it by its link (CHAT-12), with a blank line between it and what is around it.
 * Without a function for links only text is looked for.
 */
export class LinkedContent {
  readonly #link: LinkImage | undefined;
  readonly #waiting: (() => Promise<void>)[] = [];
  #before: 'nothing' | 'text' | 'image' = 'nothing';

  constructor(link: LinkImage | undefined) {
    this.#link = link;
  }

  /** What the part adds, '' for nothing. Throws GatewayError for an image that is none. */
  take(part: Part): string {
    const data = this.#link && imageDataOf(part);
    if (this.#link && data !== undefined) return this.#image(this.#link, data);
    const text = textOf(part);
    if (text === '') return '';
    const gap = this.#before === 'image' ? '\n\n' : '';
    this.#before = 'text';
    return `${gap}${text}`;
  }

  /**
   * Done when every link that was given leads to its image: for an answer that has come to a good end. Before that nothing is stored, or
   * whoever has an answer broken off would have its images for nothing. Throws `service_unavailable`.
   */
  async store(): Promise<void> {
    try {
      await Promise.all(this.#waiting.splice(0).map((store) => store()));
    } catch (error) {
      throw error instanceof StoreError ? notStored(error) : error;
    }
  }

  #image(link: LinkImage, data: string): string {
    const { bytes, mediaType } = decodeImage(data);
    const { url, store } = link(bytes, mediaType);
    this.#waiting.push(store);
    const gap = this.#before === 'nothing' ? '' : '\n\n';
    this.#before = 'image';
    return `${gap}![image](${url})`;
  }
}

const notStored = (cause: StoreError): GatewayError =>
  new GatewayError('service_unavailable', 'The image could not be stored. Nothing was charged. Try again.', {
    retryAfterSeconds: 30,
    cause,
  });
