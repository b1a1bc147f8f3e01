import { GatewayError } from '../errors/gateway-error.ts';
import { StoreError } from '../errors/store-error.ts';
import { sniffImage } from '../image-type.ts';
import { untilDefinite } from '../retry.ts';
import type { ImagePorts } from './draw-images.ts';
import type { Dimensions, DrawnImage } from './image-wire.ts';
import { linkImage } from './media-link.ts';

/** An image in the form that the client asked for, with the dimensions that it really has. */
export interface MadeImage extends Dimensions {
  readonly content: { readonly kind: 'url'; readonly url: string } | { readonly kind: 'base64'; readonly text: string };
  readonly revisedPrompt: string | undefined;
}

/** Those that can be had, in the vendor's order. Throws what kept the first of them away when there is none. */
export const deliverImages = async (
  ports: ImagePorts,
  images: readonly DrawnImage[],
  format: 'url' | 'b64_json',
): Promise<readonly MadeImage[]> => {
  const settled = await Promise.allSettled(images.map((image) => deliver(ports, image, format)));
  const made = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failures: unknown[] = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const bug = failures.find((failure) => !(failure instanceof GatewayError));
  if (bug !== undefined || made.length === 0) throw bug ?? failures[0];
  return made;
};

const deliver = async (
  ports: ImagePorts,
  { read, revisedPrompt }: DrawnImage,
  format: 'url' | 'b64_json',
): Promise<MadeImage> => {
  const bytes = await read();
  const mediaType = sniffImage(bytes);
  const dimensions = mediaType && ports.measure(bytes);
  if (!dimensions) throw noImage();
  const { width, height } = dimensions;
  if (format === 'b64_json') {
    return { content: { kind: 'base64', text: Buffer.from(bytes).toString('base64') }, width, height, revisedPrompt };
  }
  try {
    // The vendor is to be paid for it either way. What a lost answer leaves behind has no link, and goes with its day.
    const url = await untilDefinite(ports.ledger, () => linkImage(ports, ports.ledger.clock.now(), bytes, mediaType));
    return { content: { kind: 'url', url }, width, height, revisedPrompt };
  } catch (error) {
    throw error instanceof StoreError ? notStored(error) : error;
  }
};

const noImage = (): GatewayError =>
  new GatewayError('upstream_error', 'The model sent something that is no image. Nothing was charged.');

const notStored = (cause: StoreError): GatewayError =>
  new GatewayError('service_unavailable', 'The image could not be stored. Nothing was charged. Try again.', {
    retryAfterSeconds: 30,
    cause,
  });
