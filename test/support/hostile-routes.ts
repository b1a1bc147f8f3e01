import { monthOf } from '../../lambdas/core/ledger/month.ts';
import { isKeyCredential } from '../../lambdas/http/authenticate.ts';
import { type Credential, type RouteName, routes } from '../../lambdas/routes.ts';
import { rowsOfTier } from '../tiers.ts';
import type { ErrorShape } from './error-shapes.ts';
import { FORM, goodForms } from './hostile-forms.ts';

/** A route that takes a body, with a valid request of its protocol. */
export interface PostRoute {
  readonly name: string;
  readonly route: RouteName;
  readonly target: string;
  readonly model: string;
  readonly shape: ErrorShape;
  readonly billed: boolean;
  /** Returns the headers with the route's own credential, and the version where the protocol needs one. */
  headers(apiKey: string): readonly string[];
  /** Returns a valid body with these words as its prompt. */
  body(words: string, members?: object): object;
}

export const VERSION = 'provider-version: 2023-06-01';

const bearer = (apiKey: string): readonly string[] => [`authorization: Bearer ${apiKey}`];
const messagesHeaders = (apiKey: string): readonly string[] => [`x-api-key: ${apiKey}`, VERSION];
const googleHeaders = (apiKey: string): readonly string[] => [`x-provider-api-key: ${apiKey}`];

const plain = { shape: 'plain', billed: true, headers: bearer } as const;
const ofMessages = { shape: 'messages', headers: messagesHeaders } as const;
const ofGoogle = { shape: 'generate_content', headers: googleHeaders } as const;

export const CLAUDE = 'claude-haiku-4-5';
export const GEMINI = 'gemini-3.1-pro-preview';

const said = (content: string) => [{ role: 'user', content }];
const contents = (text: string) => [{ role: 'user', parts: [{ text }] }];

/** The length limits are small, because the amounts of holds do not matter to these tests. */
export const chat: PostRoute = {
  ...{ ...plain, name: 'chat', route: 'chatCompletions', target: '/v1/chat/completions', model: 'gpt-5.4' },
  body: (words, members) => ({ model: 'gpt-5.4', max_tokens: 20, messages: said(words), ...members }),
};

export const responses: PostRoute = {
  ...{ ...plain, name: 'responses', route: 'responses', target: '/v1/responses', model: 'gpt-5.5-pro' },
  body: (words, members) => ({ model: 'gpt-5.5-pro', max_output_tokens: 200, input: words, ...members }),
};

export const messages: PostRoute = {
  ...{ ...ofMessages, name: 'messages', route: 'messages', target: '/v1/messages', model: CLAUDE, billed: true },
  body: (words, members) => ({ model: CLAUDE, max_tokens: 20, messages: said(words), ...members }),
};

export const countTokens: PostRoute = {
  ...{ ...ofMessages, name: 'count_tokens', route: 'countMessageTokens', model: CLAUDE, billed: false },
  target: '/v1/messages/count_tokens',
  body: (words, members) => ({ model: CLAUDE, messages: said(words), ...members }),
};

const generated = (words: string, members?: object) => ({
  contents: contents(words),
  generationConfig: { maxOutputTokens: 200 },
  ...members,
});

export const generateContent: PostRoute = {
  ...{ ...ofGoogle, name: 'generateContent', route: 'generateContent', model: GEMINI, billed: true },
  target: `/v1beta/models/${GEMINI}:generateContent`,
  body: generated,
};

export const streamAsEvents: PostRoute = {
  ...{ ...generateContent, name: 'streamGenerateContent as events', route: 'streamGenerateContent' },
  target: `/v1beta/models/${GEMINI}:streamGenerateContent?alt=sse`,
};

export const streamAsArray: PostRoute = {
  ...{ ...streamAsEvents, name: 'streamGenerateContent as an array' },
  target: `/v1/models/${GEMINI}:streamGenerateContent`,
};

export const countContent: PostRoute = {
  ...{ ...ofGoogle, name: 'countTokens', route: 'countContentTokens', model: GEMINI, billed: false },
  target: `/v1/models/${GEMINI}:countTokens`,
  body: (words, members) => ({ contents: contents(words), ...members }),
};

export const embeddings: PostRoute = {
  ...{ ...plain, name: 'embeddings', route: 'embeddings', target: '/v1/embeddings', model: 'text-embedding-3-small' },
  body: (words, members) => ({ model: 'text-embedding-3-small', input: words, ...members }),
};

export const moderations: PostRoute = {
  ...{
    ...plain,
    name: 'moderations',
    route: 'moderations',
    target: '/v1/moderations',
    model: 'omni-moderation-latest',
  },
  body: (words, members) => ({ model: 'omni-moderation-latest', input: words, ...members }),
};

/** Uses the cheapest video model, because the hold of a video stays open until the video ends. */
export const videos: PostRoute = {
  ...{ ...plain, name: 'videos', route: 'createVideo', target: '/v1/videos', model: 'seedance-1-5-pro' },
  body: (words, members) => ({ model: 'seedance-1-5-pro', prompt: words, ...members }),
};

export const images: PostRoute = {
  ...{ ...plain, name: 'images', route: 'generateImages', target: '/v1/images/generations' },
  model: 'gpt-image-2-prompt',
  body: (words, members) => ({ model: 'gpt-image-2-prompt', prompt: words, ...members }),
};

export const speech: PostRoute = {
  ...{ ...plain, name: 'speech', route: 'speak', target: '/v1/audio/speech', model: 'tts-1' },
  body: (words, members) => ({ model: 'tts-1', voice: 'nova', input: words, ...members }),
};

/** Routes that create media from a `prompt` and accept idempotency keys. */
export const creations: readonly PostRoute[] = [images, videos];

/** All routes except chat completions, which have their own suites. */
export const newRoutes: readonly PostRoute[] = [
  ...[responses, messages, countTokens, generateContent, streamAsEvents, streamAsArray, countContent],
  ...[embeddings, moderations, images, speech, videos],
];
export const postRoutes: readonly PostRoute[] = [chat, ...newRoutes];

/** Whether a valid body can exceed the maximum price of a request. */
export const hasCap = (route: PostRoute): boolean => ![embeddings, moderations, images, speech, videos].includes(route);

/** Returns a valid body of the route followed by these members as raw JSON. */
export const having = ({ body }: PostRoute, members: string): string =>
  `${JSON.stringify(body('hi')).slice(0, -1)},${members}}`;

/** Whether the model is named in the path, and only there. */
export const namesModelInPath = ({ target }: PostRoute): boolean => target.includes('/models/');

export interface CredentialForm {
  readonly name: string;
  /** Kinds of routes that read this credential. */
  readonly kinds: readonly Credential[];
  /** Returns the header lines and the query with this credential, unchanged. The query is appended to the target. */
  carry(credential: string): { readonly headers: readonly string[]; readonly query: string };
}

const inHeader = (name: string, kinds: readonly Credential[]): CredentialForm => ({
  name,
  kinds,
  carry: (credential) => ({ headers: [`${name}: ${credential}`], query: '' }),
});

/** Every place where a route reads an API key (AUTH-1 to AUTH-3). */
export const credentialForms = {
  bearer: {
    ...inHeader('authorization', ['bearer', 'messages', 'generate_content', 'any']),
    carry: (credential) => ({ headers: [`authorization: Bearer ${credential}`], query: '' }),
  },
  xApiKey: inHeader('x-api-key', ['messages', 'any']),
  xProviderApiKey: inHeader('x-provider-api-key', ['generate_content', 'any']),
  xGoogApiKey: inHeader('x-goog-api-key', ['generate_content', 'any']),
  query: {
    name: '?key=',
    kinds: ['generate_content'],
    carry: (credential) => ({ headers: [], query: `key=${credential}` }),
  },
} as const satisfies Record<string, CredentialForm>;

export const allForms: readonly CredentialForm[] = Object.values(credentialForms);

export const withQuery = (target: string, query: string): string =>
  query === '' ? target : `${target}${target.includes('?') ? '&' : '?'}${query}`;

export interface Address {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly target: string;
  readonly name: RouteName;
  readonly credential: Credential;
  readonly billed: boolean;
  /** Status of an authenticated request. */
  readonly served: 200 | 404;
}

const names: RouteName[] = [];
let routeName: RouteName;
for (routeName in routes) names.push(routeName);

/** Routes with an id in the path. No test account has a request, a video or an image with that id. */
const ofNobody: ReadonlySet<RouteName> = new Set([
  'getUsage',
  'getVideo',
  'deleteVideo',
  'getVideoContent',
  'getMedia',
  'getAppFile',
  'getReferenceFile',
  'getReferenceRoute',
  'getGuide',
  'getKey',
  'editKey',
  'deleteKey',
  'getAppKey',
  'editAppKey',
  'deleteAppKey',
]);

const addressesOf = (name: RouteName): readonly Address[] => {
  const { method, path, credential, billed, ...route } = routes[name];
  const paths: readonly string[] = [path, ...('alsoAt' in route ? route.alsoAt : [])];
  const model = credential === 'generate_content' ? GEMINI : 'gpt-5.4';
  const served = ofNobody.has(name) ? 404 : 200;
  const targetOf = (path: string) => path.replace('{month}', monthOf(Date.now())).replace(/\{\w+\}/, model);
  return paths.map((path) => ({ method, target: targetOf(path), name, credential, billed, served }));
};

/** Every route in the route table, with each of its paths. */
export const allAddresses: readonly Address[] = names.flatMap(addressesOf);

/** Addresses that need an API key or no credential. */
export const addresses = allAddresses.filter(({ credential }) => credential === 'none' || isKeyCredential(credential));

/** Addresses that need another credential (AUTH-6). */
export const otherAddresses = allAddresses.filter((address) => !addresses.includes(address));

/** Returns a valid body for an address. Empty if the route reads none. */
export const goodBodyAt = ({ name }: Pick<Address, 'name'>): string | Uint8Array => {
  const form = goodForms[name];
  if (form) return form;
  if (name === 'rotateWebhookSecret') return JSON.stringify({ version: 1 });
  if (name === 'testWebhook') return JSON.stringify({ url: 'https://webhook.invalid/hook' });
  const post = postRoutes.find(({ route }) => route === name);
  if (post) return JSON.stringify(post.body('hi'));
  return /^(create|edit)(App)?Key$/.test(name) ? JSON.stringify({ name: 'hi' }) : '';
};

/** Returns the headers that the body needs in addition to the credential. */
export const goodHeadersAt = ({ name }: Pick<Address, 'name'>): readonly string[] => (goodForms[name] ? [FORM] : []);

/** Rows for `test.each`: every route in the long tier, one for each error shape in the quick tier. */
export const routesOfTier = <T extends PostRoute>(routes: readonly T[]) =>
  rowsOfTier(routes, ({ shape }) => shape).map((route) => [route.name, route] as const);

/** Names of the routes that ignore unknown fields (GEN-16). */
export const ignoringRoutes: ReadonlySet<string> = new Set([
  'chat',
  'responses',
  'messages',
  'count_tokens',
  'generateContent',
  'streamGenerateContent as events',
  'streamGenerateContent as an array',
  'countTokens',
  'embeddings',
  'moderations',
]);
