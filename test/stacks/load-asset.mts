import { PassThrough } from 'node:stream';

// Copied beside an asset, far from any package, and run there: loads what the first argument names, as Lambda would, and calls
// it with the event of the second, if there is one. Prints one line of JSON.
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
// Connections are kept alive and would hold the process.
process.exit();
