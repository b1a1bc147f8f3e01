import { rotateBody, testBody } from '../../lambdas/protocols/webhooks/handlers.ts';
import { webhookSecret, webhookTest } from '../answers/webhooks.ts';
import type { Answer, Operation } from '../operation.ts';

const secretAnswer: Answer = {
  description: 'The secret.',
  content: { 'application/json': { schema: webhookSecret } },
};

export const webhookOperations: Record<'getWebhookSecret' | 'rotateWebhookSecret' | 'testWebhook', Operation> = {
  getWebhookSecret: {
    tag: 'Webhooks',
    summary: 'Read the signing secret',
    description:
      'Returns the secret that signs the webhooks of the account. It does not depend on an API key. Needs an API key with the right `manage`.',
    answers: { '200': secretAnswer },
    codes: ['key_right_missing', 'service_unavailable'],
  },
  rotateWebhookSecret: {
    tag: 'Webhooks',
    summary: 'Rotate the signing secret',
    description:
      'Replaces the secret. Deliveries are signed with both secrets for 24 hours. A repeated request changes nothing more, because it has the version of the replaced secret. Needs an API key with the right `manage`.',
    json: {
      name: 'WebhookRotation',
      schema: rotateBody,
      fields: { version: '`version` of the secret to replace.' },
      examples: { plain: { summary: 'Replace the first secret', value: { version: 1 } } },
    },
    answers: { '200': secretAnswer },
    codes: ['invalid_request_error', 'key_right_missing', 'service_unavailable'],
  },
  testWebhook: {
    tag: 'Webhooks',
    summary: 'Send a test event',
    description:
      'Sends one signed `webhook.test` event to a public URL and returns the result. Free of charge, at most five in a row and then one in ten seconds for each account.',
    json: {
      name: 'WebhookTestRequest',
      schema: testBody,
      fields: { url: 'Public http(s) URL, on port 80, 443, 8080 or 8443.' },
      examples: { plain: { summary: 'A test event', value: { url: 'https://webhook.invalid/hook' } } },
    },
    answers: {
      '200': {
        description: 'The result, also if the event was not delivered.',
        content: { 'application/json': { schema: webhookTest } },
      },
    },
    codes: ['invalid_request_error', 'service_unavailable'],
  },
};
