import { invalidRequest } from '../../core/errors/gateway-error.ts';
import { webhookSecretOf } from '../../core/signature.ts';
import type { Webhook } from '../../core/videos/video-job.ts';
import { credentialForms } from '../../http/authenticate.ts';

/** What is wrong with an address, as a sentence; undefined when nothing is to be seen of it yet. */
export type CheckWebhookUrl = (url: string) => string | undefined;

type Headers = Readonly<Record<string, string | undefined>>;

/** VID-7. Deliveries are signed with what follows from the key of this request. Throws the 400 that names the field. */
export const toWebhook = (url: string, headers: Headers, check: CheckWebhookUrl): Webhook => {
  const problem = check(url);
  if (problem !== undefined) throw invalidRequest('webhook_url', `webhook_url: ${problem}`);
  const apiKey = credentialForms.bearer.read(headers, {});
  if (apiKey === undefined) throw new Error('a video was asked for without a key');
  return { url, secret: webhookSecretOf(apiKey) };
};
