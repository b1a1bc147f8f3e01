/** In the order in which they are shown. */
export const tags = {
  Chat: 'Text in the widely used chat completions format.',
  Responses: 'Text in the responses format, for models with that protocol.',
  Messages: 'Text in the native messages format.',
  'Generate content': 'Text and images in the native generate-content format.',
  'Embeddings and moderations': 'Numbers and verdicts on texts.',
  Images: 'Pictures from words and from other pictures.',
  Audio: 'Speech to text and text to speech.',
  Videos: 'Videos are made over minutes: create one, look at it now and then, fetch the file.',
  Models: 'What can be called, at what price.',
  Account: 'Balance and receipts of the account that a key belongs to.',
  'Mini app':
    'What the page in the messenger reads and changes. Its credential is what the messenger signs when it opens the page.',
  Integration: 'What the messenger and a payment provider call.',
  Pages: 'Pages of this service, and its health.',
} as const;

export type Tag = keyof typeof tags;
