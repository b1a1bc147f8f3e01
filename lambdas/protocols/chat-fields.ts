import type { Wire } from '../core/catalog/providers.ts';
import type { TextModel } from '../core/catalog/schema.ts';
import type { JsonObject } from '../core/json.ts';
import { upstreamFor } from '../core/paid-call/route-model.ts';
import { hasAtMost, isTaken, type OptionalField } from './optional-fields.ts';

export const chat: readonly Wire[] = ['openai_chat'];
const openai: readonly Wire[] = ['openai_chat', 'openai_responses'];
export const gemini: readonly Wire[] = ['gemini_generate_content', 'gemini_generate_content_image'];
export const claude: readonly Wire[] = ['anthropic_messages'];

/** Fields of a chat completion that the table and the choice of the upstream read. */
export interface ChatFields {
  readonly model?: string | undefined;
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  readonly presence_penalty?: number | null | undefined;
  readonly frequency_penalty?: number | null | undefined;
  readonly seed?: number | null | undefined;
  readonly stop?: string | readonly string[] | null | undefined;
  readonly logit_bias?: object | null | undefined;
  readonly logprobs?: boolean | null | undefined;
  readonly top_logprobs?: number | null | undefined;
  readonly tools?: readonly object[] | null | undefined;
  readonly tool_choice?: string | object | null | undefined;
  readonly parallel_tool_calls?: boolean | null | undefined;
  readonly stream?: boolean | null | undefined;
  readonly user?: string | null | undefined;
  readonly metadata?: object | null | undefined;
  readonly prompt_cache_key?: string | null | undefined;
  readonly prompt_cache_options?: JsonObject | null | undefined;
  readonly prompt_cache_retention?: string | null | undefined;
  readonly safety_identifier?: string | null | undefined;
  readonly verbosity?: string | null | undefined;
  readonly service_tier?: string | null | undefined;
  readonly modalities?: readonly string[] | null | undefined;
  readonly store?: false | null | undefined;
  readonly reasoning_effort?: string | null | undefined;
  readonly output_config?: { readonly effort?: string | null | undefined } | null | undefined;
}

const isForced = ({ tool_choice: choice }: ChatFields): boolean => typeof choice === 'object' && choice !== null;
const hasTools = ({ tools }: ChatFields): boolean => Boolean(tools?.length);
const isEmpty = (value: object | null | undefined): boolean => Object.keys(value ?? {}).length === 0;

/** Whether the gateway stores the end user's name: at most 256 characters (CHAT-15). */
export const isEndUser = (name: string): boolean => hasAtMost(name, 256);

/**
 * Whether OpenAI accepts a text that identifies something. It rejects `user`, `prompt_cache_key` and
 * `safety_identifier` of more than 64 characters (`lambdas/providers/openai/fields.md`).
 */
export const isShortId = (text: string | null | undefined): boolean => hasAtMost(text ?? '', 64);

/** Whether OpenAI accepts the metadata: types of the package openai 7.55.0. */
const isMetadata = (metadata: object): boolean => {
  const members = Object.entries(metadata);
  return (
    members.length <= 16 &&
    members.every(([name, text]) => hasAtMost(name, 64) && typeof text === 'string' && hasAtMost(text, 512))
  );
};

/** Whether a provider that reads the seed as a signed 32-bit number accepts it, as Google does. */
const isInt32 = (seed: number | null | undefined): boolean => ((seed ?? 0) | 0) === (seed ?? 0);

/** Whether the name of the model turns thinking on (MSG-3). Claude then accepts no sampling fields. */
export const thinksByName = (body: ChatFields, { id, thinking }: TextModel): boolean =>
  thinking?.suffix !== undefined && body.model === `${id}${thinking.suffix}` && !requiresCall(body);

/** Whether the tool choice requires a call. Claude rejects it together with thinking. */
const requiresCall = (body: ChatFields): boolean => body.tool_choice === 'required' || isForced(body);

/**
 * Whether the name is an email address or a telephone number. Claude rejects both:
 * https://github.com/BerriAI/litellm/issues/11432
 */
const isContact = (name: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(name) || /^\+?[\d\s()-]{7,}$/.test(name);

/** https://ai.google.dev/api/generate-content#generationconfig allows up to five sequences. */
const GEMINI_STOPS_MAX = 5;

/** https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop allows up to four sequences. */
const OPENAI_STOPS_MAX = 4;

/**
 * Claude rejects a sequence of blanks: https://github.com/BerriAI/litellm/issues/3286 (2024-04-25). No provider gets an empty
 * one, which would end every output.
 */
const takesStop = (stop: readonly string[], wire: Wire): boolean => {
  if (stop.includes('')) return false;
  if (claude.includes(wire)) return stop.every((sequence) => sequence.trim() !== '');
  return stop.length <= (gemini.includes(wire) ? GEMINI_STOPS_MAX : OPENAI_STOPS_MAX);
};

/**
 * A hint for Claude and Gemini, whose protocols lack the field on every model; some clients send it with each request.
 * The caller can choose another model of OpenAI.
 */
const hintElsewhere = (wire: Wire) => (openai.includes(wire) ? 'refuse' : 'list');

/**
 * How the gateway treats each field that not every model or provider accepts (CHAT-16, GEN-16). A field without a row
 * is sent to every provider. `wires` are the provider protocols that have the field.
 */
export const chatFields: readonly OptionalField<ChatFields>[] = [
  {
    field: 'temperature',
    // Gemini accepts it on all models, also on the native route.
    isTaken: (body, model, wire) =>
      gemini.includes(wire) ||
      (model.capabilities.sampling &&
        (!claude.includes(wire) || ((body.temperature ?? 0) <= 1 && !thinksByName(body, model)))),
    otherwise: 'list',
    isDefault: ({ temperature }) => temperature === 1,
  },
  {
    field: 'top_p',
    // Claude accepts `temperature` or `top_p`, but not both:
    // https://platform.claude.com/docs/en/about-claude/models/migration-guide
    isTaken: (body, model, wire) =>
      gemini.includes(wire) ||
      (model.capabilities.sampling &&
        !(claude.includes(wire) && (thinksByName(body, model) || (body.temperature ?? 2) <= 1))),
    otherwise: 'list',
    isDefault: (body) => body.top_p === 1,
  },
  {
    field: 'presence_penalty',
    capability: 'penalties',
    wires: [...chat, ...gemini],
    otherwise: 'list',
    isDefault: (body) => body.presence_penalty === 0,
  },
  {
    field: 'frequency_penalty',
    capability: 'penalties',
    wires: [...chat, ...gemini],
    otherwise: 'list',
    isDefault: (body) => body.frequency_penalty === 0,
  },
  {
    field: 'seed',
    capability: 'seed',
    wires: [...chat, ...gemini],
    isTaken: ({ seed }, _, wire) => !gemini.includes(wire) || isInt32(seed),
    otherwise: 'list',
  },
  {
    field: 'stop',
    capability: 'stop',
    wires: [...chat, ...claude, ...gemini],
    isTaken: ({ stop }, _, wire) => takesStop([stop ?? []].flat(), wire),
    otherwise: 'replace',
  },
  {
    field: 'logit_bias',
    capability: 'sampling',
    wires: chat,
    otherwise: 'list',
    isDefault: (body) => isEmpty(body.logit_bias),
  },
  {
    field: 'logprobs',
    capability: 'logprobs',
    wires: chat,
    otherwise: hintElsewhere,
    isDefault: ({ logprobs }) => logprobs === false,
  },
  {
    field: 'top_logprobs',
    capability: 'logprobs',
    wires: chat,
    otherwise: hintElsewhere,
    isDefault: (body) => body.top_logprobs === 0,
  },
  { field: 'tools', capability: 'tools', otherwise: 'refuse', isDefault: (body) => !hasTools(body) },
  {
    field: 'parallel_tool_calls',
    // OpenAI rejects it without tools, and a forced function is a single call in any case.
    isTaken: (body, { capabilities }, wire) => hasTools(body) && capabilities.parallelTools && !gemini.includes(wire),
    otherwise: 'list',
    isDefault: (body, { capabilities }) =>
      body.parallel_tool_calls === true || !hasTools(body) || !capabilities.parallelTools || isForced(body),
  },
  {
    field: 'tool_choice',
    isTaken: hasTools,
    otherwise: 'refuse',
    isDefault: () => true,
  },
  { field: 'stream', capability: 'streaming', otherwise: 'refuse', isDefault: ({ stream }) => stream === false },
  {
    field: 'user',
    wires: [...openai, ...claude],
    isTaken: ({ user }, _, wire) =>
      claude.includes(wire) ? isEndUser(user ?? '') && !isContact(user ?? '') : isShortId(user),
    otherwise: 'list',
  },
  // OpenAI's chat accepts it only with `store` of true, and the gateway sends false.
  {
    field: 'metadata',
    wires: ['openai_responses'],
    isTaken: ({ metadata }) => isMetadata(metadata ?? {}),
    otherwise: 'list',
    isDefault: ({ metadata }) => isEmpty(metadata),
  },
  {
    field: 'prompt_cache_key',
    wires: openai,
    isTaken: ({ prompt_cache_key: key }) => isShortId(key),
    otherwise: 'list',
  },
  {
    field: 'safety_identifier',
    wires: openai,
    isTaken: ({ safety_identifier: id }) => isShortId(id),
    otherwise: 'list',
  },
  { field: 'verbosity', wires: openai, isTaken: (_, { reasoning }) => reasoning !== null, otherwise: 'list' },
  {
    field: 'prompt_cache_options',
    // Explicit breakpoints would change what the provider writes to a cache.
    wires: [],
    otherwise: 'list',
    isDefault: ({ prompt_cache_options: options }) => {
      const { mode = 'implicit', ...more } = options ?? {};
      return mode === 'implicit' && isEmpty(more);
    },
  },
  { field: 'service_tier', wires: chat, otherwise: 'list', isDefault: () => true },
  { field: 'modalities', wires: chat, otherwise: 'list', isDefault: () => true },
  { field: 'store', wires: chat, otherwise: 'list', isDefault: () => true },
  // The newest models accept only the other value.
  { field: 'prompt_cache_retention', wires: [], otherwise: 'list' },
  { field: 'reasoning_effort', isTaken: (_, { reasoning }) => reasoning !== null, otherwise: 'list' },
  {
    field: 'output_config',
    name: 'output_config.effort',
    isTaken: (_, { reasoning }) => reasoning?.field === 'output_config.effort',
    otherwise: 'list',
    isDefault: ({ output_config: config }) => (config?.effort ?? undefined) === undefined,
  },
];

/** Provider protocol that the gateway uses for this request and model. */
export const wireFor = (body: ChatFields, model: TextModel): Wire => {
  const wish = { usesTools: hasTools(body), effort: body.reasoning_effort ?? undefined };
  const upstream = upstreamFor(model, wish) ?? model.upstreams[0];
  return upstream?.wire ?? 'openai_chat';
};

/** Chat completion in which every field can take effect. */
const plainChat: ChatFields = { tools: [{}] };

/** Whether a chat completion with this model supports the field, so that it is neither ignored nor rejected. */
export const takesField = (field: string, model: TextModel): boolean => {
  const wire = wireFor({ ...plainChat, tools: [] }, model);
  return chatFields.every(
    (row) => row.field !== field || row.otherwise === 'replace' || isTaken(row, plainChat, { model, wire }),
  );
};
