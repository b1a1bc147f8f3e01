import { createHash } from 'node:crypto';
import { videoAnswer } from '../video-answer.ts';
import { byteplusTaskPrefix } from '../video-file.ts';
import { readVideoId, stageOf } from '../video-job.ts';
import { VendorRefusal, type Wire, type WireRequest } from '../wire.ts';

/** Common properties of the endpoints of the provider's object store. */
export const storeWire = {
  method: 'GET',
  isAuthorized: () => true,
  lastUserText: () => '',
  refuse: (refusal) => {
    const status = refusal.kind === 'status' ? refusal.status : 403;
    return storeError(status, status >= 500 ? 'InternalError' : 'AccessDenied', 'The request was refused.');
  },
  errorFrame: () => '',
  headers: (requestId) => ({ 'x-tos-request-id': requestId }),
} satisfies Partial<Wire>;

/**
 * `GET /files/{id}.mp4`: the file at a signed URL. Anyone with the complete URL may read it. A credential in addition
 * to the signature is rejected, as in object stores, so that a provider key that is sent to the wrong host is noticed.
 */
export const byteplusFile: Wire = {
  ...storeWire,
  path: /^\/files\/[^/]+\.mp4$/,
  answer(request) {
    const id = /^\/files\/([^/]+)\.mp4$/.exec(request.path)?.[1] ?? '';
    refuseUnsigned(request, id);
    const job = readVideoId(byteplusTaskPrefix, id);
    if (job === undefined || stageOf(job, Date.now()).kind !== 'made' || job.video?.file === 'missing') {
      throw noSuchKey();
    }
    return videoAnswer(id, job);
  },
};

export function refuseUnsigned({ headers, query }: WireRequest, id: string): void {
  if (headers.authorization !== undefined) {
    throw storeError(400, 'InvalidArgument', 'Only one auth mechanism allowed.');
  }
  if (query.get('X-Tos-Signature') !== signatureOf(id)) {
    throw storeError(403, 'SignatureDoesNotMatch', 'The request signature we calculated does not match.');
  }
}

export function noSuchKey(): VendorRefusal {
  return storeError(404, 'NoSuchKey', 'The specified key does not exist.');
}

export function addressOfFile(request: WireRequest, id: string): string {
  return signedAddress(request, `/files/${id}.mp4`, id);
}

/** Returns a URL on this host that is signed for a day, in the format of the provider's object store. */
export function signedAddress({ headers }: WireRequest, path: string, id: string): string {
  const query = new URLSearchParams({
    'X-Tos-Algorithm': 'TOS4-HMAC-SHA256',
    'X-Tos-Expires': '86400',
    'X-Tos-Signature': signatureOf(id),
  });
  return `http://${headers.host}${path}?${query}`;
}

function signatureOf(id: string): string {
  return createHash('sha256').update(`signed ${id}`).digest('hex');
}

function storeError(status: number, code: string, message: string): VendorRefusal {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return new VendorRefusal(status, body, { 'content-type': 'application/xml' });
}
