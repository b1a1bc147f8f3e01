import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { Wait } from './body-budget.ts';

type ReadBytes = Uint8Array | 'too-long' | 'incomplete';

/**
 * Source of a body. A function URL has read it before the handler runs; the HTTP server of `lambdas/host` has not, so a
 * request can be rejected unread.
 */
export interface BodySource {
  /** Length that the client declares; known before the body is read. */
  readonly declaredBytes: number | undefined;
  /** Whether the front door has converted the bytes to text, which destroys a compressed body. */
  readonly isText?: boolean;
  /**
   * Reads the whole body. Returns `too-long` once it exceeds the limit, and `incomplete` if the client left or was too
   * slow. Awaits `grow` for every piece before it reads the next; errors of `grow` are thrown.
   */
  read(bytesMax: number, grow: (bytes: number) => Wait): Promise<ReadBytes> | ReadBytes;
}

const unread = Symbol('unread body');

interface HostEvent extends APIGatewayProxyEventV2 {
  [unread]?: BodySource;
}

/** Attaches an unread body to its event. */
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
    isText: !event.isBase64Encoded,
    read: async (bytesMax, grow) => {
      await grow(bytes.length);
      return bytes.length > bytesMax ? 'too-long' : bytes;
    },
  };
};
