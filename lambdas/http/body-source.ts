import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/**
 * Source of a body. A function URL has read it before the handler runs; the HTTP server of `lambdas/host` has not, so a
 * request can be rejected unread.
 */
export interface BodySource {
  /** Length that the client declares, before anything is read. */
  readonly declaredBytes: number | undefined;
  /**
   * All of it; `too-long` once it is known to be more than the limit; `incomplete` when the client left or was too slow. `grow`
   * is awaited for every piece before the next one is taken; what it throws is thrown.
   */
  read(bytesMax: number, grow: (bytes: number) => Promise<void>): Promise<Uint8Array | 'too-long' | 'incomplete'>;
}

const unread = Symbol('unread body');

interface HostEvent extends APIGatewayProxyEventV2 {
  [unread]?: BodySource;
}

/** Hands a body that is still on the wire along with its event. */
export const withUnreadBody = (event: APIGatewayProxyEventV2, source: BodySource): APIGatewayProxyEventV2 => {
  const carrier: HostEvent = event;
  carrier[unread] = source;
  return carrier;
};

export const bodySourceOf = (event: APIGatewayProxyEventV2): BodySource => {
  const carrier: HostEvent = event;
  return carrier[unread] ?? readBody(event);
};

const readBody = (event: APIGatewayProxyEventV2): BodySource => {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  return {
    declaredBytes: bytes.length,
    read: async (bytesMax, grow) => {
      await grow(bytes.length);
      return bytes.length > bytesMax ? 'too-long' : bytes;
    },
  };
};
