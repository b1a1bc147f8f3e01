import { isKeyCredential } from '../../lambdas/http/authenticate.ts';
import { type Credential, type RouteName, routes } from '../../lambdas/routes.ts';
import { rowsOfTier } from '../tiers.ts';
import type { ErrorShape } from './error-shapes.ts';
import { FORM, goodForms } from './hostile-forms.ts';

/** One route that takes a body, as a client of its protocol uses it. */
export interface PostRoute {
  readonly name: string;
  readonly route: RouteName;
  readonly target: string;
  readonly model: string;
  readonly shape: ErrorShape;
  readonly billed: boolean;
  /** The route's own credential, and the version where that belongs to it. */
  headers(apiKey: string): readonly string[];
  /** A body that is served with these words as its prompt. */
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

/** Caps as small as the tests want them: what is held never matters to them. */
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

/** The cheapest there is: what is held for a video counts here, since only its end gives it back. */
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

/** They make something out of a `prompt`, and take keys. */
export const creations: readonly PostRoute[] = [images, videos];

/** Those that came after chat, which has suites of its own. */
export const newRoutes: readonly PostRoute[] = [
  ...[responses, messages, countTokens, generateContent, streamAsEvents, streamAsArray, countContent],
  ...[embeddings, moderations, images, speech, videos],
];
export const postRoutes: readonly PostRoute[] = [chat, ...newRoutes];

/** A good body of these can cost more than any request may. */
export const hasCap = (route: PostRoute): boolean => ![embeddings, moderations, images, speech, videos].includes(route);

/** A good body of the route with these members, as they stand on the wire, behind its own. */
export const having = ({ body }: PostRoute, members: string): string =>
  `${JSON.stringify(body('hi')).slice(0, -1)},${members}}`;

/** Where the model stands in the path it is named there alone. */
export const namesModelInPath = ({ target }: PostRoute): boolean => target.includes('/models/');

export interface CredentialForm {
  readonly name: string;
  /** Which kinds of routes read it. */
  readonly kinds: readonly Credential[];
  /** The same request with this credential, as it stands; a query goes behind the target. */
  carry(credential: string): { readonly headers: readonly string[]; readonly query: string };
}

const inHeader = (name: string, kinds: readonly Credential[]): CredentialForm => ({
  name,
  kinds,
  carry: (credential) => ({ headers: [`${name}: ${credential}`], query: '' }),
});

/** Every place in which some route looks for a key (AUTH-1 to AUTH-3). */
export const credentialForms = {
  bearer: {
    ...inHeader('authorization', ['bearer', 'messages', 'any']),
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
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly target: string;
  readonly name: RouteName;
  readonly credential: Credential;
  readonly billed: boolean;
  /** What whoever is let in is answered. */
  readonly served: 200 | 404;
}

const names: RouteName[] = [];
let routeName: RouteName;
for (routeName in routes) names.push(routeName);

/** Nobody here has a request, a video or an image of the id they are asked for. */
const ofNobody: ReadonlySet<RouteName> = new Set([
  'getUsage',
  'getVideo',
  'deleteVideo',
  'getVideoContent',
  'getMedia',
  'getAppFile',
  'getReferenceFile',
]);

const addressesOf = (name: RouteName): readonly Address[] => {
  const { method, path, credential, billed, ...route } = routes[name];
  const paths: readonly string[] = [path, ...('alsoAt' in route ? route.alsoAt : [])];
  const model = credential === 'generate_content' ? GEMINI : 'gpt-5.4';
  const served = ofNobody.has(name) ? 404 : 200;
  return paths.map((path) => ({ method, target: path.replace(/\{\w+\}/, model), name, credential, billed, served }));
};

/** Every address in the route table, by each of its paths. */
export const allAddresses: readonly Address[] = names.flatMap(addressesOf);

/** Those that an API key opens, or that need nothing. */
export const addresses = allAddresses.filter(({ credential }) => credential === 'none' || isKeyCredential(credential));

/** Those that something else opens (AUTH-6). */
export const otherAddresses = allAddresses.filter((address) => !addresses.includes(address));

/** The body that is served at an address; empty where none is read. */
export const goodBodyAt = ({ name }: Pick<Address, 'name'>): string | Uint8Array => {
  const form = goodForms[name];
  if (form) return form;
  const post = postRoutes.find(({ route }) => route === name);
  return post ? JSON.stringify(post.body('hi')) : '';
};

/** What that body needs beside the credential. */
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
