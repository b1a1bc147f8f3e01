import type * as z from 'zod';
import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { sniffImage } from '../../core/image-type.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { PromptPricing } from '../../core/pricing/text-price.ts';
import type { PromptSize, TextParams, TextRequest } from '../../core/text/conversation.ts';
import { hasOpaqueParts, promptTextTokens } from '../../core/text/token-estimate.ts';
import type { Alternatives } from '../alternatives.ts';
import { extraFieldsOf, IgnoredFields, keepFields } from '../fields.ts';
import { charactersOf } from '../image-url.ts';
import { parseWith } from '../parse.ts';
import { blocksIn, blocksOf, clientToolTokens, type ImageBlock, type PlacedBlock, type Tool } from './blocks.ts';
import { countBody, messagesBody, type PromptBody } from './body.ts';
import {
  betaHeaders,
  effortOf,
  type Kept,
  missingToolChanges,
  readBetas,
  sentBody,
  withoutLongUser,
} from './sent-body.ts';
import { refuseEffortInThinking } from './thinking.ts';

/**
 * Tokens for the instructions for citations. https://platform.claude.com/docs/en/build-with-claude/citations has no
 * number.
 */
const TOKENS_FOR_CITATIONS = 1_000;
/** Tokens for the title, index and marks around a document or a search result. */
const TOKENS_AROUND_SOURCE = 64;
/** Tokens that the provider adds to each message to show the model its budget. */
const TOKENS_OF_BUDGET = 64;

/** Tokens that the provider adds to the text of the body, before the entry's factor (BILL-5). */
export const addedTokens = (
  { tools = [], output_config, messages }: PromptBody,
  blocks: readonly PlacedBlock[],
  model: TextModel,
): number => {
  const sources = blocks.flatMap(({ block }) =>
    block.type === 'document' || block.type === 'search_result' ? [block] : [],
  );
  return (
    tools.reduce((sum, tool) => sum + definedTokens(tool), 0) +
    repeatedTools(tools, blocks, model) +
    sources.length * TOKENS_AROUND_SOURCE +
    (sources.some(({ citations }) => citations?.enabled) ? TOKENS_FOR_CITATIONS : 0) +
    (output_config?.task_budget ? messages.length * TOKENS_OF_BUDGET : 0)
  );
};

const definedTokens = ({ type }: Tool): number => clientToolTokens[type ?? ''] ?? 0;

/** Each reference to a tool can add its definition to the prompt again. */
const repeatedTools = (tools: readonly Tool[], blocks: readonly PlacedBlock[], model: TextModel): number => {
  const references = blocks.flatMap(({ block }) => {
    if (block.type === 'tool_reference') return [block.tool_name];
    return block.type === 'tool_addition' || block.type === 'tool_removal' ? [block.tool.name] : [];
  });
  if (references.length === 0) return 0;
  const sizes = new Map(
    tools.map((tool) => [tool.name, definedTokens(tool) + promptTextTokens({ ...tool }, [], model)]),
  );
  return references.reduce((sum, name) => sum + (sizes.get(name) ?? 0), 0);
};

export interface MediaSize extends Pick<PromptSize, 'images' | 'documents'> {
  /** Inline content that is not text, in the order of the body. */
  readonly inline: readonly string[];
}

/** Checks every image and PDF document, and measures them for the estimate (CHAT-6, GEN-11). */
export const measureMedia = (
  blocks: readonly PlacedBlock[],
  model: TextModel,
  alternatives: Alternatives,
): MediaSize => {
  const inline: string[] = [];
  const images: 'auto'[] = [];
  let documents = 0;
  for (const { block, param } of blocks) {
    if (block.type === 'image') {
      requireVision(param, 'images', model, alternatives);
      checkImage(block, param);
      images.push('auto');
    } else if (block.type === 'document' && block.source.type === 'base64') {
      // The provider also reads each page as an image.
      requireVision(param, 'PDF documents', model, alternatives);
      documents += 1;
    } else continue;
    if (block.source.type === 'base64') inline.push(block.source.data);
  }
  return { inline, images, documents };
};

const requireVision = (param: string, what: string, model: TextModel, alternatives: Alternatives): void => {
  if (model.inputTypes.includes('image')) return;
  const others = alternatives(({ inputTypes }) => inputTypes.includes('image'));
  throw invalidRequest(param, `${param}: "${model.id}" does not accept ${what}.${others}`);
};

const checkImage = ({ source }: ImageBlock, param: string): void => {
  if (source.type === 'url') {
    const isLink = /^https?:\/\//i.test(source.url) && URL.canParse(source.url);
    if (!isLink) throw invalidFormat(`${param}.source.url`, 'must be an http(s) URL.');
    return;
  }
  const { data, media_type: claimed } = source;
  const found = sniffImage(Buffer.from(data.slice(0, 24), 'base64'));
  if (!found) throw invalidFormat(`${param}.source.data`, 'must be a PNG, JPEG or WebP image in base64.');
  if (found !== claimed)
    throw invalidFormat(`${param}.source.media_type`, `must be "${found}", the type of the image.`);
};

const invalidFormat = (param: string, message: string): GatewayError =>
  new GatewayError('invalid_image_format', `${param}: ${message}`, { param });

/** Body and `anthropic-beta` header of the client. */
export interface Sent {
  readonly json: JsonObject;
  readonly betas: string | undefined;
}

/** Converts a messages body to the core's terms. Throws the 400 that names the field. */
export const toTextParams = (sent: Sent, bodyBytes: number, alternatives: Alternatives): TextParams => {
  const received = receive(messagesBody, sent);
  const read = check(received, parseWith(messagesBody, received.fields));
  const { body } = read;
  return {
    protocol: 'messages',
    modelId: body.model,
    endUser: body.metadata?.user_id,
    params: { prompt: 'messages', cap: 'max_tokens' },
    validateFor: (model) => {
      const { ignored, body: toSend } = validateFor(read, model, alternatives);
      return {
        stream: body.stream ?? false,
        choices: 1,
        outputTokensMax: body.max_tokens,
        usesTools: Boolean(body.tools?.length),
        effort: effortOf(body, model),
        prompt: measure(read, toSend, bodyBytes, model, alternatives),
        promptPricing: promptPricingOf(read),
        body: toSend,
        headers: read.headers,
        ignored,
      } satisfies TextRequest;
    },
  };
};

export interface CountParams {
  readonly modelId: string;
  readonly headers: TextRequest['headers'];
  /** Returns the body to count, checked for the model. Throws the 400 that names the field. */
  validateFor(model: TextModel): Pick<TextRequest, 'body' | 'ignored'>;
}

/** Converts a body whose tokens are counted. */
export const toCountParams = (sent: Sent, alternatives: Alternatives): CountParams => {
  const received = receive(countBody, sent);
  const read = check(received, parseWith(countBody, received.fields));
  return {
    modelId: read.body.model,
    headers: read.headers,
    validateFor: (model) => {
      measureMedia(read.blocks, model, alternatives);
      return validateFor(read, model, alternatives);
    },
  };
};

interface Received extends Omit<Kept, 'body'> {
  readonly schema: z.ZodObject;
  /** Body as the client sent it. */
  readonly json: JsonObject;
}

interface Read<Body extends PromptBody> extends Received {
  readonly body: Body;
  readonly blocks: readonly PlacedBlock[];
  /** Headers of the provider's request. */
  readonly headers: TextRequest['headers'];
}

const receive = (schema: z.ZodObject, { json, betas }: Sent): Received => {
  refuseEffortInThinking(json);
  const { body, ignored } = keepFields(schema, json);
  return { schema, json, ignored, betas: readBetas(betas, ignored), fields: withoutLongUser(body, ignored) };
};

/** Rejects what no model accepts. */
const check = <Body extends PromptBody>(received: Received, body: Body): Read<Body> => {
  const blocks = blocksOf(body.messages);
  refuseToolChanges(blocks, received.betas);
  refuseTwoFormats(body);
  return { ...received, body, blocks, headers: betaHeaders(received.betas, body) };
};

const refuseToolChanges = (blocks: readonly PlacedBlock[], betas: readonly string[]): void => {
  const header = missingToolChanges(betas);
  const change = blocks.find(({ block }) => block.type === 'tool_addition' || block.type === 'tool_removal');
  if (!header || !change) return;
  const { param } = change;
  throw new GatewayError('invalid_messages', `${param}: needs the header ${header}. Send it.`, { param });
};

const refuseTwoFormats = ({ output_format: old, output_config: config }: PromptBody): void => {
  if (!old || !config?.format || JSON.stringify(old) === JSON.stringify(config.format)) return;
  throw invalidRequest('output_format', 'output_format: differs from output_config.format. Send one of them.');
};

const validateFor = (
  { schema, json, ...kept }: Read<PromptBody>,
  model: TextModel,
  alternatives: Alternatives,
): Pick<TextRequest, 'body' | 'ignored'> => {
  const extras = extraFieldsOf(json, schema, model);
  const ignored = new IgnoredFields(kept.ignored, Object.keys(extras));
  const sent = sentBody({ ...kept, ignored }, model, alternatives);
  return { body: { ...sent, ...extras }, ignored: ignored.names };
};

const measure = (
  { body, json, blocks }: Read<PromptBody>,
  sent: JsonObject,
  bodyBytes: number,
  model: TextModel,
  alternatives: Alternatives,
): PromptSize => {
  const { inline, ...media } = measureMedia(blocks, model, alternatives);
  return {
    bytes: bytesOf(sent, json, bodyBytes) - charactersOf(inline),
    textTokens: promptTextTokens(sent, inline, model),
    hasOpaqueParts: hasOpaqueParts(sent),
    addedTokens: addedTokens(body, blocks, model),
    ...media,
  };
};

/**
 * The gateway serializes the body again. It can become shorter, because ignored fields are removed, or longer, because
 * 1e20 becomes 21 digits.
 */
const bytesOf = (sent: JsonObject, json: JsonObject, bodyBytes: number): number => {
  const isAsItCame =
    Object.keys(sent).length === Object.keys(json).length &&
    Object.entries(sent).every(([name, member]) => member === json[name]);
  if (!isAsItCame) return Buffer.byteLength(JSON.stringify(sent));
  const mayGrow = Object.values(sent).some((member) => typeof member === 'object' && holdsNumber(member));
  return mayGrow ? Math.max(bodyBytes, Buffer.byteLength(JSON.stringify(sent))) : bodyBytes;
};

const holdsNumber = (value: JsonValue | undefined): boolean =>
  typeof value === 'number' ||
  (typeof value === 'object' && value !== null && Object.values(value).some((member) => holdsNumber(member)));

/** Most expensive way in which the provider can write the prompt to a cache (BILL-5, BILL-12). */
const promptPricingOf = ({ body, blocks }: Read<PromptBody>): PromptPricing => {
  const markers = [
    body.cache_control,
    ...(body.tools ?? []).map((tool) => tool.cache_control),
    ...[...blocksIn(body.system, 'system'), ...blocks].map(({ block }) =>
      'cache_control' in block ? block.cache_control : undefined,
    ),
  ].filter((marker) => marker !== undefined);
  if (markers.length === 0) return 'cache-rates';
  return markers.some(({ ttl }) => ttl === '1h') ? 'cache-rates-1h' : 'cache-rates-5m';
};
