/** Sections of the API in reading order, with a short description. */
const userTags = {
  Chat: 'Text in the widely used chat completions format.',
  Responses: 'Text in the responses format, for models with that protocol.',
  Messages: 'Text in the native messages format.',
  'Generate content': 'Text and images in the native generateContent format.',
  Images: 'Images from text and from reference images.',
  Audio: 'Speech to text and text to speech.',
  Videos: 'A video takes minutes: create it, poll its status, fetch the file.',
  'Embeddings and moderations': 'Vectors of texts, and safety checks of texts and images.',
  Models: 'Available models and their prices.',
  Account: 'Balance and receipts of the account of an API key.',
  'API keys': 'API keys of the account. These routes require a key with the right `manage`, such as the first key.',
  Webhooks: 'Signing secret and tests of the events that the gateway sends to your URL.',
} as const;

/** Sections of routes that the operator, the bot and the pages use. */
const operatorTags = {
  'Mini app':
    'API of the page in the messenger. Its credential is the init data that the messenger signs when it opens the page.',
  Integration: 'Webhooks for the messenger and a payment provider.',
  Pages: 'Pages of this service, and its health check.',
} as const;

export const tags = { ...userTags, ...operatorTags } as const;

export type Tag = keyof typeof tags;

/** Groups of sections: routes of users first. Viewers read them as `x-tagGroups`. */
export const tagGroups = [
  { name: 'API', tags: Object.keys(userTags) },
  { name: 'Operator and bot', tags: Object.keys(operatorTags) },
];
