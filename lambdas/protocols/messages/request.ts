import type { TextModel } from '../../core/catalog/schema.ts';
import { GatewayError, invalidRequest } from '../../core/errors/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { promptTextTokens } from '../../core/text/prompt-tokens.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/text-request.ts';
import type { Alternatives } from '../alternatives.ts';
import { charactersOf } from '../image-url.ts';
import { parseWith, shownName } from '../parse.ts';
import { type CountBody, countBody, type MessagesBody, messagesBody, type PromptBody } from './body.ts';
import { promptPricingOf } from './caching.ts';
import { applyConstraints, hasEffort } from './constraints.ts';
import { checkImages, imagesOf } from './images.ts';
import { refuseEffortInThinking, thinkingByName } from './thinking.ts';

/** A messages body in the core's terms. Throws the 400 that names the field. */
export const toTextOrder = (json: JsonObject, bodyBytes: number, alternatives: Alternatives): TextOrder => {
  refuseThread(json);
  refuseEffortInThinking(json);
  const body = parseWith(messagesBody, knownFields(json, messagesBody.shape));
  return {
    protocol: 'messages',
    modelId: body.model,
    endUser: body.metadata?.user_id ?? undefined,
    params: { prompt: 'messages', cap: 'max_tokens' },
    prepare: (model) => prepare({ body, json, bodyBytes, alternatives }, model),
  };
};

/**
 * GEN-6: conversations that the vendor keeps. Its SDK's tool runner asks for one unless it is told not to, and goes on without when the
 * refusal says so in these words (`ThreadState` in @anthropic-ai/sdk 1.11.0).
 */
const refuseThread = ({ thread }: JsonObject): void => {
  if (thread === undefined || thread === null) return;
  const message = 'thread: the gateway keeps no conversations. Leave it out and send the whole history.';
  const sdkDetails = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
  throw new GatewayError('invalid_request_error', message, { param: 'thread', sdkDetails });
};

export interface CountOrder {
  readonly modelId: string;
  /** The body to count, valid for the model. Throws the 400 that names the field. */
  prepare(model: TextModel): JsonObject;
}

/** A body to count the tokens of: that of a message without what concerns the answer alone. */
export const toCountOrder = (json: JsonObject, alternatives: Alternatives): CountOrder => {
  refuseEffortInThinking(json);
  const body: CountBody = parseWith(countBody, knownFields(json, countBody.shape));
  return {
    modelId: body.model,
    prepare: (model) => {
      refuseUnknown(json, countBody.shape, model);
      checkImages(imagesOf(body.messages), model, alternatives);
      return toSend(json, body, model, alternatives);
    },
  };
};

interface Parsed {
  readonly body: MessagesBody;
  readonly json: JsonObject;
  readonly bodyBytes: number;
  readonly alternatives: Alternatives;
}

const prepare = (parsed: Parsed, model: TextModel): TextRequest => {
  const { body, json, alternatives } = parsed;
  refuseUnknown(json, messagesBody.shape, model);
  const sent = toSend(json, body, model, alternatives);
  return {
    stream: body.stream ?? false,
    choices: 1,
    outputTokensMax: body.max_tokens,
    usesTools: Boolean(body.tools?.length),
    effort: effortOf(body, model),
    prompt: measure(parsed, model, sent),
    promptPricing: promptPricingOf(body),
    body: sent,
  };
};

type Shape = Readonly<Record<string, unknown>>;

/** Other fields are the business of the model's entry, which is not known yet. */
const knownFields = (json: JsonObject, shape: Shape): JsonObject =>
  Object.fromEntries(Object.entries(json).filter(([name]) => Object.hasOwn(shape, name)));

const refuseUnknown = (json: JsonObject, shape: Shape, model: TextModel): void => {
  for (const name of Object.keys(json)) {
    if (Object.hasOwn(shape, name) || model.extraFields.includes(name)) continue;
    const shown = shownName(name);
    throw invalidRequest(shown, `${shown}: this field is not supported here. Leave it out.`);
  }
};

/** MSG-4: where nothing is asked for, `high` is what a client of this format gets. */
const effortOf = ({ output_config: config }: PromptBody, model: TextModel): string | undefined =>
  config?.effort ?? (hasEffort(model) ? 'high' : undefined);

/** The client's body but for defaults that the model refuses, thinking by the model's name and the effort (BILL-6). */
const toSend = (json: JsonObject, body: PromptBody, model: TextModel, alternatives: Alternatives): JsonObject => {
  const unsent = applyConstraints(body, model, alternatives);
  const kept = Object.fromEntries(Object.entries(json).filter(([name]) => !unsent.has(name)));
  const thinking = thinkingByName(body, model);
  const effort = effortOf(body, model);
  const config = isJsonObject(json.output_config) ? json.output_config : {};
  const isSaid = effort === undefined || effort === (config.effort ?? model.reasoning?.default);
  return {
    ...kept,
    ...(thinking && { thinking }),
    ...(isSaid ? {} : { output_config: { ...config, effort } }),
  };
};

const measure = ({ body, bodyBytes, alternatives }: Parsed, model: TextModel, sent: JsonObject): PromptSize => {
  const images = imagesOf(body.messages);
  checkImages(images, model, alternatives);
  const inline = images.flatMap(({ image: { source } }) => (source.type === 'base64' ? source.data : []));
  const bytes = Math.max(bodyBytes, mayGrow(body) ? Buffer.byteLength(JSON.stringify(sent)) : 0);
  return {
    bytes: bytes - charactersOf(inline),
    textTokens: promptTextTokens(sent, inline, model),
    images: images.map(() => 'auto'),
  };
};

/** What goes to the vendor is written anew, and a number can become longer by that: 1e20 has 21 digits. Text cannot. */
const mayGrow = ({ tools, output_config: config, messages }: MessagesBody): boolean =>
  Boolean(tools ?? config?.format) ||
  messages.some(({ content }) => typeof content !== 'string' && content.some((block) => block.type === 'tool_use'));
