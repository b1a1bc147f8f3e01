import type { oas31 } from 'zod-openapi';
import type { Credential } from '../lambdas/routes.ts';

const inHeader = (name: string, description: string): oas31.SecuritySchemeObject => ({
  type: 'apiKey',
  in: 'header',
  name,
  description,
});

export const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'API key: `Authorization: Bearer sk-service-...`.' },
  messagesKey: inHeader('x-api-key', 'API key, as SDKs of the messages format send it.'),
  providerKey: inHeader(
    'x-provider-api-key',
    'API key for generateContent. `?key=` also works. Prefer the header, because URLs are often logged.',
  ),
  googleKey: inHeader('x-goog-api-key', 'API key, as SDKs of generateContent send it.'),
  initData: inHeader('Authorization', '`tma <initData>`: the init data with which the messenger opened the mini app.'),
  paymentSignature: inHeader(
    'X-Service-Signature',
    '`t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`, signed with the key shared with the payment provider, at most five minutes old.',
  ),
  botSecret: inHeader('X-Telegram-Bot-Api-Secret-Token', 'Secret with which the webhook of the bot was registered.'),
} as const satisfies Record<string, oas31.SecuritySchemeObject>;

type Scheme = keyof typeof securitySchemes;

/**
 * Accepted schemes per credential; one is enough. Generated clients send all listed schemes, so a route whose response
 * depends on the header lists only one.
 */
const accepted: Record<Credential, readonly Scheme[]> = {
  none: [],
  bearer: ['apiKey'],
  messages: ['messagesKey', 'apiKey'],
  generate_content: ['providerKey', 'googleKey', 'apiKey'],
  any: ['apiKey'],
  init_data: ['initData'],
  signature: ['paymentSignature'],
  bot: ['botSecret'],
};

export const securityOf = (credential: Credential): oas31.SecurityRequirementObject[] =>
  accepted[credential].map((scheme) => ({ [scheme]: [] }));
