/** A model that the catalog never retires. */
export const MODEL = 'gpt-5.4';

const GOOD = { model: MODEL, max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] };

/** Returns a valid body of exactly `bytes` bytes. The padding is spaces outside of the prompt. */
export const paddedWithBlanks = (bytes: number, good: object = GOOD): Buffer => {
  const head = Buffer.from(JSON.stringify(good).slice(0, -1));
  return Buffer.concat([head, Buffer.alloc(bytes - head.length - 1, ' '), Buffer.from('}')]);
};

const PNG = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64').replace('=', '');

/** Returns a valid body of exactly `bytes` bytes. The padding is an image, all of which goes to the provider. */
export const withImage = (bytes: number): Buffer => {
  const parts = `{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${PNG}`;
  const head = Buffer.from(`{"model":"${MODEL}","max_tokens":20,"messages":[{"role":"user","content":[${parts}`);
  const tail = Buffer.from('"}}]}]}');
  return Buffer.concat([head, Buffer.alloc(bytes - head.length - tail.length, 'A'), tail]);
};

/** Encodes a body in chunks of `size` bytes, without a content length. */
export const chunked = (body: Buffer, size = 65_536): Buffer => {
  const pieces: Buffer[] = [];
  for (let start = 0; start < body.length; start += size) {
    const piece = body.subarray(start, start + size);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
};
