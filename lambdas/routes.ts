/** Header or query form of the API key, one per group of routes (spec, "Authentication"; AUTH-1 to AUTH-3). */
export type KeyCredential = 'bearer' | 'messages' | 'generate_content' | 'any';

/**
 * Credential of a caller without an API key (AUTH-6): the messenger's secret token, the data that the messenger signs
 * when it opens the mini app, or a payment provider's signature.
 */
export type OtherCredential = 'bot' | 'init_data' | 'signature';

export type Credential = KeyCredential | OtherCredential | 'none';

/** Name of one Lambda function, of its file in `functions/` and in AWS. */
export type HttpFunction = 'text' | 'images' | 'audio' | 'videos' | 'content' | 'catalog' | 'account' | 'bot' | 'app';

/** Prebuilt pages: the mini app and the API reference. */
export const pageNames = ['app', 'api-reference'] as const;
export type PageName = (typeof pageNames)[number];

const mediaTypes: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Returns the media type of a page's file, from the end of its name. */
export const mediaTypeOf = (file: string): string =>
  mediaTypes[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /**
   * `{name}` matches one non-empty segment, whose value is passed on by that name. In `{name}:action` the segment must
   * end in `:action`. Under /v1beta a value has no colon, because a colon starts an action.
   */
  readonly path: string;
  /** Further paths of the same route. */
  readonly alsoAt?: readonly string[];
  readonly function: HttpFunction;
  /** Whether the response may be sent while it is generated. */
  readonly streamed: boolean;
  readonly credential: Credential;
  /** Requires recent init data of the mini app (KEY-5). */
  readonly fresh?: true;
  /** Whether the request places a hold. Only these routes reject an empty balance (AUTH-4). */
  readonly billed: boolean;
  /** Whether the request changes an account or a video. In maintenance, such and billed requests get 503 (OPS-15). */
  readonly writes?: true;
  /** Whether the request counts against the bucket of the client IP. True for all routes except `/health` (AUTH-6). */
  readonly limited: boolean;
  readonly body: 'json' | 'form' | 'json-or-form' | 'none';
}

/** Routes that place a hold. */
const paid = { method: 'POST', credential: 'bearer', billed: true, limited: true } as const;
/** Routes that read data of the account. */
const own = {
  method: 'GET',
  streamed: false,
  credential: 'bearer',
  billed: false,
  limited: true,
  body: 'none',
} as const;
/** Routes that read and change the API keys of the account (KEY-8). */
const ofKeys = { ...own, function: 'account' } as const;
const changesKeys = { ...ofKeys, writes: true } as const;
/** Routes of the account's webhooks: `ofWebhooks` reads and `changesWebhooks` writes. */
const ofWebhooks = { ...own, function: 'videos' } as const;
const changesWebhooks = { ...ofWebhooks, method: 'POST', body: 'json', writes: true } as const;
/** Routes that read public data. */
const open = { ...own, credential: 'none' } as const;
/** Files of a page, which are sent while they are read. */
const page = { ...open, function: 'content', streamed: true } as const;
/** Routes of the mini app: `ofApp` reads and `changes` writes. */
const ofApp = { ...own, credential: 'init_data', function: 'app' } as const;
const changes = { ...ofApp, method: 'POST', body: 'json', writes: true } as const;
/** Routes of the mini app that change API keys. */
const changesAppKeys = { ...ofApp, writes: true, fresh: true } as const;

/** Table of all routes. Deployment, the local host and the tests read it. */
export const routes = {
  chatCompletions: { ...paid, path: '/v1/chat/completions', function: 'text', streamed: true, body: 'json' },
  responses: { ...paid, path: '/v1/responses', function: 'text', streamed: true, body: 'json' },
  messages: {
    method: 'POST',
    path: '/v1/messages',
    function: 'text',
    streamed: true,
    credential: 'messages',
    billed: true,
    limited: true,
    body: 'json',
  },
  countMessageTokens: {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    function: 'text',
    streamed: false,
    credential: 'messages',
    billed: false,
    limited: true,
    body: 'json',
  },
  generateContent: {
    method: 'POST',
    path: '/v1beta/models/{model}:generateContent',
    // Google's SDKs use this version since their third major version.
    alsoAt: ['/v1/models/{model}:generateContent'],
    function: 'text',
    streamed: false,
    credential: 'generate_content',
    billed: true,
    limited: true,
    body: 'json',
  },
  streamGenerateContent: {
    method: 'POST',
    path: '/v1beta/models/{model}:streamGenerateContent',
    // Google's SDKs use this version since their third major version.
    alsoAt: ['/v1/models/{model}:streamGenerateContent'],
    function: 'text',
    streamed: true,
    credential: 'generate_content',
    billed: true,
    limited: true,
    body: 'json',
  },
  countContentTokens: {
    method: 'POST',
    path: '/v1beta/models/{model}:countTokens',
    // Google's SDKs use this version since their third major version.
    alsoAt: ['/v1/models/{model}:countTokens'],
    function: 'text',
    streamed: false,
    credential: 'generate_content',
    billed: false,
    limited: true,
    body: 'json',
  },
  embeddings: { ...paid, path: '/v1/embeddings', function: 'text', streamed: false, body: 'json' },
  moderations: { ...paid, path: '/v1/moderations', function: 'text', streamed: false, body: 'json' },
  generateImages: { ...paid, path: '/v1/images/generations', function: 'images', streamed: false, body: 'json' },
  editImages: { ...paid, path: '/v1/images/edits', function: 'images', streamed: false, body: 'json-or-form' },
  getMedia: {
    method: 'GET',
    path: '/media/{name}',
    function: 'content',
    streamed: true,
    credential: 'none',
    billed: false,
    limited: true,
    body: 'none',
  },
  transcribe: { ...paid, path: '/v1/audio/transcriptions', function: 'audio', streamed: false, body: 'form' },
  speak: { ...paid, path: '/v1/audio/speech', function: 'audio', streamed: true, body: 'json' },
  createVideo: { ...paid, path: '/v1/videos', function: 'videos', streamed: false, body: 'json-or-form' },
  listVideos: { ...own, path: '/v1/videos', function: 'videos' },
  getVideo: { ...own, path: '/v1/videos/{id}', function: 'videos' },
  deleteVideo: {
    method: 'DELETE',
    path: '/v1/videos/{id}',
    function: 'videos',
    streamed: false,
    credential: 'bearer',
    billed: false,
    writes: true,
    limited: true,
    body: 'none',
  },
  getVideoContent: {
    method: 'GET',
    path: '/v1/videos/{id}/content',
    // A function URL sends at most 200 MB. This function is a Web Function, which has no such limit.
    function: 'content',
    streamed: true,
    credential: 'bearer',
    billed: false,
    limited: true,
    body: 'none',
  },
  listModels: {
    method: 'GET',
    path: '/v1/models',
    function: 'catalog',
    streamed: false,
    credential: 'any',
    billed: false,
    limited: true,
    body: 'none',
  },
  getModel: {
    method: 'GET',
    path: '/v1/models/{id}',
    function: 'catalog',
    streamed: false,
    credential: 'any',
    billed: false,
    limited: true,
    body: 'none',
  },
  listGoogleModels: {
    method: 'GET',
    path: '/v1beta/models',
    function: 'catalog',
    streamed: false,
    credential: 'generate_content',
    billed: false,
    limited: true,
    body: 'none',
  },
  getGoogleModel: {
    method: 'GET',
    path: '/v1beta/models/{id}',
    function: 'catalog',
    streamed: false,
    credential: 'generate_content',
    billed: false,
    limited: true,
    body: 'none',
  },
  listPrices: { ...open, path: '/api/models', function: 'catalog' },
  listFallbacks: { ...open, path: '/api/models/{id}/fallbacks', function: 'catalog' },
  health: {
    method: 'GET',
    path: '/health',
    function: 'catalog',
    streamed: false,
    credential: 'none',
    billed: false,
    limited: false,
    body: 'none',
  },
  getAccount: { ...own, path: '/api/account', function: 'account' },
  listUsage: { ...own, path: '/api/usage', function: 'account' },
  // Precedes the receipt of one request, whose path it matches too.
  getUsageSummary: { ...own, path: '/api/usage/summary', function: 'account' },
  getUsage: { ...own, path: '/api/usage/{request_id}', function: 'account' },
  getStatement: { ...own, path: '/api/statements/{month}', function: 'account' },
  listKeys: { ...ofKeys, path: '/api/keys' },
  createKey: { ...changesKeys, method: 'POST', path: '/api/keys', body: 'json' },
  getKey: { ...ofKeys, path: '/api/keys/{id}' },
  editKey: { ...changesKeys, method: 'PATCH', path: '/api/keys/{id}', body: 'json' },
  deleteKey: { ...changesKeys, method: 'DELETE', path: '/api/keys/{id}' },
  getWebhookSecret: { ...ofWebhooks, path: '/api/webhooks/secret' },
  rotateWebhookSecret: { ...changesWebhooks, path: '/api/webhooks/secret/rotate' },
  testWebhook: { ...changesWebhooks, path: '/api/webhooks/test' },
  takeUpdate: { ...changes, path: '/bot', function: 'bot', credential: 'bot' },
  creditAccount: { ...changes, path: '/app/credits', credential: 'signature' },
  getAppAccount: { ...ofApp, path: '/app/api/account' },
  listAppUsage: { ...ofApp, path: '/app/api/usage' },
  getAppUsageSummary: { ...ofApp, path: '/app/api/usage/summary' },
  getAppSpend: { ...ofApp, path: '/app/api/spend' },
  setThreshold: { ...changes, path: '/app/api/threshold' },
  rotateKey: { ...changes, path: '/app/api/key', fresh: true },
  listAppKeys: { ...ofApp, path: '/app/api/keys' },
  createAppKey: { ...changesAppKeys, method: 'POST', path: '/app/api/keys', body: 'json' },
  getAppKey: { ...ofApp, path: '/app/api/keys/{id}' },
  editAppKey: { ...changesAppKeys, method: 'PATCH', path: '/app/api/keys/{id}', body: 'json' },
  deleteAppKey: { ...changesAppKeys, method: 'DELETE', path: '/app/api/keys/{id}' },
  getApp: { ...page, path: '/app' },
  getAppFile: { ...page, path: '/app/assets/{file}' },
  getReference: { ...page, path: '/api-reference' },
  getClientGuide: { ...page, path: '/api-reference/clients' },
  getReferenceRoute: { ...page, path: '/api-reference/routes/{name}' },
  getGuide: { ...page, path: '/api-reference/guides/{name}' },
  getLlmsText: { ...page, path: '/llms.txt' },
  getReferenceFile: { ...page, path: '/api-reference/{file}' },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** Function that handles requests outside of the routes: the errors 404 and 405 and the CORS preflight. */
export const functionForUnknownRoutes: HttpFunction = 'catalog';
