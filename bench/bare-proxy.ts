import http from 'node:http';

/**
 * Proxy that parses both JSON bodies, and each event of a stream, and forwards them. It is the least that a gateway in
 * Node does: no authentication, no prices, no stores.
 */
const agent = new http.Agent({ keepAlive: true });

const read = (message: http.IncomingMessage, done: (text: string) => void): void => {
  const pieces: Buffer[] = [];
  message.on('data', (piece: Buffer) => pieces.push(piece));
  message.on('end', () => done(Buffer.concat(pieces).toString()));
};

/** Forwards the events that are complete. Returns the rest. */
const forwardEvents = (text: string, response: http.ServerResponse): string => {
  const events = text.split('\n\n');
  const rest = events.pop() ?? '';
  const forwarded = events.map((event) =>
    event === 'data: [DONE]' ? event : `data: ${JSON.stringify(JSON.parse(event.slice('data: '.length)))}`,
  );
  if (forwarded.length > 0) response.write(`${forwarded.join('\n\n')}\n\n`);
  return rest;
};

const server = http.createServer((request, response) => {
  read(request, (text) => {
    const body = JSON.stringify(JSON.parse(text));
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const { url, method } = request;
    const options = { host: '127.0.0.1', port: process.env.BENCH_UPSTREAM_PORT, path: url, method, agent, headers };
    const upstream = http.request(options, (received) => {
      const contentType = received.headers['content-type'] ?? '';
      if (contentType === 'text/event-stream') {
        response.writeHead(200, { 'content-type': contentType });
        let rest = '';
        received.setEncoding('utf8').on('data', (piece: string) => {
          rest = forwardEvents(rest + piece, response);
        });
        received.on('end', () => response.end());
      } else {
        read(received, (json) => {
          const sent = JSON.stringify(JSON.parse(json));
          const length = Buffer.byteLength(sent);
          response.writeHead(200, { 'content-type': contentType, 'content-length': length }).end(sent);
        });
      }
    });
    upstream.on('error', () => response.destroy());
    upstream.end(body);
  });
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
