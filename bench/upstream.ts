import http from 'node:http';

/** Provider with an immediate, constant response, so that only the path to it is measured. */
const usage = { prompt_tokens: 8, completion_tokens: 100, total_tokens: 108 };
const shared = { id: 'chatcmpl-bench', created: 1, model: 'gpt-4.1-mini-2025-04-14' };
const events = Number(process.env.BENCH_EVENTS ?? 100);

const plain = JSON.stringify({
  ...shared,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(400) }, finish_reason: 'stop' }],
  usage,
});

const chunk = (choices: unknown, more: object = {}): string =>
  `data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices, usage: null, ...more })}\n\n`;

const stream = [
  ...Array.from({ length: events }, (_, index) =>
    chunk([{ index: 0, delta: { content: `word${index} ` }, finish_reason: null }]),
  ),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage }),
  'data: [DONE]\n\n',
];

const server = http.createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    if (!Buffer.concat(pieces).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(plain);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of stream) response.write(event);
    response.end();
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
