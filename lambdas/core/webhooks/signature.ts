import { createHmac } from 'node:crypto';

/** KEY-6: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.rawBody">`, the value of `X-Service-Signature`. */
export const signBody = (secret: string, body: string, unixSeconds: number): string =>
  `t=${unixSeconds},v1=${createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex')}`;

/** What the deliveries about a key's videos are signed with: whoever has the key can work it out, and nothing else follows from it. */
export const webhookSecretOf = (apiKey: string): string => createHmac('sha256', apiKey).update('webhook').digest('hex');
