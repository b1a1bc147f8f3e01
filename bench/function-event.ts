/** Event of a function URL with a JSON body. */
export const event = (apiKey: string, path: string, body: object): object => {
  const host = 'id.lambda-url.us-east-1.on.aws';
  return {
    ...{ version: '2.0', routeKey: '$default', rawPath: path, rawQueryString: '', isBase64Encoded: false },
    headers: { host, 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    requestContext: {
      ...{ accountId: 'anonymous', apiId: 'id', domainName: host, domainPrefix: 'id', requestId: 'bench' },
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'bench' },
      ...{ routeKey: '$default', stage: '$default', time: '01/Nov/2026:00:00:00 +0000', timeEpoch: Date.now() },
    },
    body: JSON.stringify(body),
  };
};

/** Body of a chat completion. */
export const chat = (content: unknown, more: object = {}): object => ({
  ...{ model: 'gpt-4.1-mini', max_tokens: 200, messages: [{ role: 'user', content }] },
  ...more,
});
