import type { TextModel } from '../../core/catalog/schema.ts';
import { invalidRequest } from '../../core/errors/gateway-error.ts';
import type { JsonObject } from '../../core/json.ts';
import { isReadable } from '../../core/text/answer-size.ts';
import { promptTextTokens } from '../../core/text/prompt-tokens.ts';
import type { PromptSize, TextOrder, TextRequest } from '../../core/text/text-request.ts';
import type { Alternatives } from '../alternatives.ts';
import { charactersOf } from '../image-url.ts';
import { parseWith, shownName } from '../parse.ts';
import { type ChatBody, chatBody, chatFieldNames } from './body.ts';
import { applyConstraints } from './constraints.ts';
import { toConversation } from './conversation.ts';
import { measureMedia, mediaOf } from './media.ts';
import { type Extras, toSend } from './to-send.ts';

/** A chat body in the core's terms. Throws the 400 or 422 that names the field. */
export const toTextOrder = (json: JsonObject, bodyBytes: number, alternatives: Alternatives): TextOrder => {
  // Fields beyond the protocol's own are the business of the model's entry, which is not known yet.
  const known = Object.fromEntries(Object.entries(json).filter(([name]) => chatFieldNames.has(name)));
  const extras = Object.entries(json).filter(([name]) => !chatFieldNames.has(name));
  const body = parseWith(chatBody, known);
  refuseTwoCaps(body);
  refuseToolChoiceAlone(body);
  return {
    protocol: 'chat_completions',
    modelId: body.model,
    endUser: body.user ?? undefined,
    params: { prompt: 'messages', cap: 'max_tokens' },
    prepare: (model) => prepare({ body, extras, bodyBytes, alternatives }, model),
  };
};

interface Parsed {
  readonly body: ChatBody;
  readonly extras: Extras;
  readonly bodyBytes: number;
  readonly alternatives: Alternatives;
}

const prepare = (parsed: Parsed, model: TextModel): TextRequest => {
  const { body, extras, alternatives } = parsed;
  refuseUnknown(extras, model);
  const unsent = applyConstraints(body, model, alternatives);
  refuseUnreadable(body, model);
  const sent = toSend(body, extras, unsent);
  const prompt = measure(parsed, model, sent);
  return {
    stream: body.stream ?? false,
    choices: body.n ?? 1,
    outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    usesTools: Boolean(body.tools?.length),
    effort: body.reasoning_effort ?? undefined,
    prompt,
    promptPricing: 'one-rate',
    body: sent,
    toConversation: () => toConversation(body, extras, sent, model),
  };
};

const refuseTwoCaps = ({ max_tokens: one, max_completion_tokens: other }: ChatBody): void => {
  if (typeof one !== 'number' || typeof other !== 'number' || one === other) return;
  throw invalidRequest('max_tokens', 'max_tokens: differs from max_completion_tokens. Send one of them.');
};

const refuseToolChoiceAlone = ({ tools, tool_choice: choice }: ChatBody): void => {
  if (tools?.length || !choice || choice === 'none' || choice === 'auto') return;
  throw invalidRequest('tool_choice', 'tool_choice: needs tools beside it.');
};

const refuseUnknown = (extras: Extras, model: TextModel): void => {
  for (const [name] of extras) {
    if (model.extraFields.includes(name)) continue;
    const shown = shownName(name);
    throw invalidRequest(shown, `${shown}: this field is not supported here. Leave it out.`);
  }
};

/** The field that makes an answer long, of those that the client sent. */
const longestBy = ({ logprobs, top_logprobs: alternatives, n, max_tokens: cap }: ChatBody): string => {
  if (logprobs) return alternatives ? 'top_logprobs' : 'logprobs';
  if ((n ?? 1) > 1) return 'n';
  return typeof cap === 'number' ? 'max_tokens' : 'max_completion_tokens';
};

const refuseUnreadable = (body: ChatBody, model: TextModel): void => {
  const { outputTokensDefault, outputTokensMax } = model.limits;
  const cap = Math.min(body.max_completion_tokens ?? body.max_tokens ?? outputTokensDefault, outputTokensMax);
  const logprobsPerToken = body.logprobs ? 1 + (body.top_logprobs ?? 0) : 0;
  if (body.stream || isReadable({ tokens: cap * (body.n ?? 1), logprobsPerToken })) return;
  const param = longestBy(body);
  const advice = 'Stream it, or lower n, max_tokens or top_logprobs.';
  throw invalidRequest(param, `${param}: the answer could be longer than one answer may be. ${advice}`);
};

const measure = ({ body, bodyBytes, alternatives }: Parsed, model: TextModel, sent: JsonObject): PromptSize => {
  const { inline, ...media } = measureMedia(mediaOf(body.messages), model, alternatives);
  const bytes = Math.max(bodyBytes, writtenBytes(body, sent)) - charactersOf(inline);
  return { bytes, textTokens: promptTextTokens([sent, signaturesOf(body)], inline, model), ...media };
};

/** Only vendors of another protocol are sent them. */
const signaturesOf = ({ messages }: ChatBody): readonly string[] =>
  messages.flatMap((message) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).flatMap((call) => call.extra_content?.google?.thought_signature ?? [])
      : [],
  );

/**
 * What goes to the vendor is written anew and can be longer than what came: 1e20 becomes 21 digits. Only where numbers can stand
 * is it measured; a conversation alone has none, and JSON text is never shorter than the text it spells.
 */
const writtenBytes = ({ tools, response_format: format, logit_bias: bias }: ChatBody, sent: JsonObject): number =>
  tools || format || bias ? Buffer.byteLength(JSON.stringify(sent)) : 0;
