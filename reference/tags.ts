/** API sections in display order. */
export const tags = {
  Chat: 'Text in the widely used chat completions format.',
  Responses: 'Text in the responses format, for models with that protocol.',
  Messages: 'Text in the native messages format.',
  'Generate content': 'Text and images in the native generateContent format.',
  'Embeddings and moderations': 'Vectors of texts, and safety checks of texts and images.',
  Images: 'Images from text and from reference images.',
  Audio: 'Speech to text and text to speech.',
  Videos: 'A video takes minutes: create it, poll its status, fetch the file.',
  Webhooks: 'Signing secret and tests of the events that the gateway sends to your URL.',
  Models: 'Available models and their prices.',
  Account: 'Balance and receipts of the account of an API key.',
  'API keys': 'API keys of the account. These routes require a key with the right `manage`, such as the first key.',
  'Mini app':
    'API of the page in the messenger. Its credential is the init data that the messenger signs when it opens the page.',
  Integration: 'Webhooks for the messenger and a payment provider.',
  Pages: 'Pages of this service, and its health check.',
} as const;

export type Tag = keyof typeof tags;
