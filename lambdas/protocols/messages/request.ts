import type * as z from 'zod';
import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject, JsonValue } from '../../core/json.ts';
import type { PromptPricing } from '../../core/pricing/text-price.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/conversation.ts';
import { promptTextTokens } from '../../core/text/token-estimate.ts';
import type { Alternatives } from '../alternatives.ts';
import { extraFieldsOf, keepFields } from '../fields.ts';
import { IgnoredFields } from '../ignored-fields.ts';
import { charactersOf } from '../image-url.ts';
import { parseWith } from '../parse.ts';
import { addedTokens } from './added-tokens.ts';
import { betaHeaders, missingToolChanges, readBetas } from './betas.ts';
import { blocksIn, blocksOf, type PlacedBlock } from './blocks.ts';
import { countBody, messagesBody, type PromptBody } from './body.ts';
import { measureMedia } from './media.ts';
import { effortOf, type Kept, sentBody, withoutLongUser } from './sent-body.ts';
import { refuseEffortInThinking } from './thinking.ts';

/** What a client sent: its body, and its `anthropic-beta` header. */
export interface Sent {
  readonly json: JsonObject;
  readonly betas: string | undefined;
}

/** A messages body in the core's terms. Throws the 400 that names the field. */
export const toTextOrder = (sent: Sent, bodyBytes: number, alternatives: Alternatives): TextOrder => {
  const received = receive(messagesBody, sent);
  const read = check(received, parseWith(messagesBody, received.fields));
  const { body } = read;
  return {
    protocol: 'messages',
    modelId: body.model,
    endUser: body.metadata?.user_id,
    params: { prompt: 'messages', cap: 'max_tokens' },
    prepare: (model) => {
      const { ignored, body: toSend } = prepare(read, model, alternatives);
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

export interface CountOrder {
  readonly modelId: string;
  readonly headers: TextRequest['headers'];
  /** The body to count, valid for the model. Throws the 400 that names the field. */
  prepare(model: TextModel): Pick<TextRequest, 'body' | 'ignored'>;
}

/** A body to count the tokens of. */
export const toCountOrder = (sent: Sent, alternatives: Alternatives): CountOrder => {
  const received = receive(countBody, sent);
  const read = check(received, parseWith(countBody, received.fields));
  return {
    modelId: read.body.model,
    headers: read.headers,
    prepare: (model) => {
      measureMedia(read.blocks, model, alternatives);
      return prepare(read, model, alternatives);
    },
  };
};

interface Received extends Omit<Kept, 'body'> {
  readonly schema: z.ZodObject;
  /** As the client sent it. */
  readonly json: JsonObject;
}

interface Read<Body extends PromptBody> extends Received {
  readonly body: Body;
  readonly blocks: readonly PlacedBlock[];
  /** Of the provider's request. */
  readonly headers: TextRequest['headers'];
}

const receive = (schema: z.ZodObject, { json, betas }: Sent): Received => {
  refuseEffortInThinking(json);
  const { body, ignored } = keepFields(schema, json);
  return { schema, json, ignored, betas: readBetas(betas, ignored), fields: withoutLongUser(body, ignored) };
};

/** What no model takes. */
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
  throw new GatewayError('invalid_messages', `${param}: needs the header ${header}.`, { param });
};

const refuseTwoFormats = ({ output_format: old, output_config: config }: PromptBody): void => {
  if (!old || !config?.format || JSON.stringify(old) === JSON.stringify(config.format)) return;
  throw invalidRequest('output_format', 'output_format: differs from output_config.format. Send one of them.');
};

const prepare = (
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
    addedTokens: addedTokens(body, blocks, model),
    ...media,
  };
};

/** What goes to the vendor is written anew. It can be shorter, without what is ignored, and longer: 1e20 becomes 21 digits. */
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

/** The dearest way in which the prompt may be written to a cache (BILL-5, BILL-12). */
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
