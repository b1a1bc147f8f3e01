import type { oas31 } from 'zod-openapi';
import type { Credential } from '../lambdas/routes.ts';

const inHeader = (name: string, description: string): oas31.SecuritySchemeObject => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
});

export const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'Your key, `Authorization: Bearer sk-service-...`.' },
  messagesKey: inHeader('x-api-key', 'Your key, as SDKs of the messages format send it.'),
  providerKey: inHeader(
    'x-provider-api-key',
    'Your key, for the generate-content format. `?key=` is read as well; addresses are kept in many places, so prefer a header.',
  ),
  googleKey: inHeader('x-goog-api-key', 'Your key, as SDKs of the generate-content format send it.'),
  initData: inHeader('Authorization', '`tma <initData>`, the text that the messenger opened the mini app with.'),
  paymentSignature: inHeader(
    'X-Service-Signature',
    '`t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">` under the key that is shared with the payment provider, at most five minutes old.',
  ),
  botSecret: inHeader('X-Telegram-Bot-Api-Secret-Token', 'The secret that the webhook of the bot was set with.'),
} as const satisfies Record<string, oas31.SecuritySchemeObject>;

type Scheme = keyof typeof securitySchemes;

/** Any one of these will do. Generated clients send all of them, so routes whose answers depend on the header have one. */
const accepted: Record<Credential, readonly Scheme[]> = {
  none: [],
  bearer: ['apiKey'],
  messages: ['messagesKey', 'apiKey'],
  generate_content: ['providerKey', 'googleKey'],
  any: ['apiKey'],
  init_data: ['initData'],
  signature: ['paymentSignature'],
  bot: ['botSecret'],
};

export const securityOf = (credential: Credential): oas31.SecurityRequirementObject[] =>
  accepted[credential].map((scheme) => ({ [scheme]: [] }));
