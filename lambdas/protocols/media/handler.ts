import { GatewayError } from '../../core/errors/gateway-error.ts';
import type { MediaStore, StoredMedia } from '../../core/images/media.ts';
import { mediaEndsAt } from '../../core/images/media.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { orUnavailable } from '../account-reads.ts';
import { type RelayDependencies, relayedAnswer } from '../relayed-answer.ts';

export interface MediaDependencies extends RelayDependencies {
  readonly media: MediaStore;
}

/**
 * GET /media/{name} (IMG-6): an image behind its link. Anyone with the link can open it. Links cannot be guessed or
 * listed.
 */
export const createGetMedia =
  (deps: MediaDependencies): RouteHandler =>
  async (exchange) => {
    const name = exchange.route?.params.name ?? '';
    const endsAtMs = mediaEndsAt(name);
    if (endsAtMs === undefined) throw noSuchImage();
    const leftMs = endsAtMs - deps.now();
    if (leftMs <= 0) throw over();
    const { mediaType, length, bytes } = await open(deps, name);
    return relayedAnswer(deps, exchange, {
      statusCode: 200,
      headers: {
        'content-type': mediaType,
        'content-disposition': 'inline',
        'cache-control': `private, max-age=${Math.floor(leftMs / 1_000)}, immutable`,
        // Browsers must show the file as an image and never run it, whatever the provider generated.
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      },
      bytes,
      length,
    });
  };

const UNREAD = 'Images cannot be looked up now. Retry later.';

const open = async ({ media }: MediaDependencies, name: string): Promise<StoredMedia> => {
  const stored = await orUnavailable(media.open(name), UNREAD);
  if (!stored) throw noSuchImage();
  return stored;
};

const noSuchImage = (): GatewayError =>
  new GatewayError('not_found', 'There is no image with this link. Check the link.');

const over = (): GatewayError =>
  new GatewayError(
    'expired',
    'The image is no longer stored: links to images end after 24 hours. Generate the image again.',
  );
