import { PassThrough } from 'node:stream';

// The tests copy this program next to an asset, away from any package. It loads the file in the first argument as
// Lambda does, and calls its handler with the event in the second argument, if given. Prints one line of JSON.
const [file = '', event] = process.argv.slice(2);
const answered: { prelude?: unknown } = {};
Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: {
      from: (stream: PassThrough, prelude: unknown) => {
        answered.prelude = prelude;
        return stream;
      },
    },
  },
});

const { handler } = await import(file);
let body = '';
if (event !== undefined) {
  const stream = new PassThrough();
  stream.setEncoding('utf8').on('data', (text) => {
    body += text;
  });
  await handler(JSON.parse(event), stream, { getRemainingTimeInMillis: () => 30_000 });
}
process.stdout.write(
  `${JSON.stringify({ node: process.versions.node, handler: typeof handler, ...answered, body })}\n`,
);
// Exit explicitly, because open connections would keep the process running.
process.exit();
