import type { TextModel } from '../catalog/schema.ts';
import { invalidRequest } from '../errors/gateway-error.ts';
import type { JsonObject } from '../json.ts';
import type { PromptPricing } from '../pricing/text-price.ts';

/** An image as the client sent it: an http(s) URL, or a base64 data URI with checked first bytes. */
export interface ImagePart {
  readonly kind: 'image';
  readonly url: string;
  readonly detail: ImageDetail;
  /** Path of the field in the client's body. */
  readonly param: string;
}

/** A video: a base64 data URI, or a link that the provider opens itself (CHAT-7). */
export interface VideoPart {
  readonly kind: 'video';
  readonly url: string;
  readonly param: string;
}

interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

export type ContentPart = TextPart | ImagePart | VideoPart;

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
  /** Opaque value that a provider needs back with the call: Google's thought signature. */
  readonly signature?: string;
}

interface Placed {
  /** Path of the message in the client's body, for errors: `messages[3]`. */
  readonly param: string;
}

export type Turn = Placed &
  (
    | { readonly role: 'system'; readonly text: string }
    | { readonly role: 'user'; readonly content: readonly ContentPart[] }
    /** Text, tool calls or both. The text may be empty. */
    | { readonly role: 'assistant'; readonly text: string; readonly toolCalls: readonly ToolCall[] }
    /** `content` is set if the result has images or videos. It then has all parts in their order, with the text. */
    | {
        readonly role: 'tool';
        readonly callId: string;
        readonly text: string;
        readonly content?: readonly ContentPart[] | undefined;
      }
  );

export interface ToolDefinition {
  readonly name: string;
  readonly description: string | undefined;
  /** A JSON schema; undefined for a function without arguments. */
  readonly parameters: JsonObject | undefined;
  readonly strict: boolean | undefined;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string };

export type AnswerFormat =
  | { readonly kind: 'json_object' }
  | {
      readonly kind: 'json_schema';
      readonly name: string;
      readonly description: string | undefined;
      readonly schema: JsonObject | undefined;
      readonly strict: boolean | undefined;
    };

/** A request for text, independent of the client's protocol. It is translated for providers with another protocol. */
export interface Conversation {
  /** In the client's order. At least one. */
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice: ToolChoice | undefined;
  readonly parallelToolCalls: boolean | undefined;
  /** Undefined means plain text. */
  readonly format: AnswerFormat | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly stop: readonly string[];
  readonly seed: number | undefined;
  /** As the client sent it. The provider's protocol rejects a level that the model lacks (CHAT-9). */
  readonly effort: string | undefined;
  /** Whether the model was named by its alias that turns thinking on (MSG-3). */
  readonly thinking: boolean;
  readonly endUser: string | undefined;
  /** Other fields that the provider accepts, with the names of the client's protocol. */
  readonly extras: JsonObject;
}

/** Instruction that replaces the format `json_object` for a provider without a JSON mode. */
export const JSON_INSTRUCTION = 'Respond with one valid JSON object and nothing else: no prose, no code fence.';

/** Returns the schema alone, for providers that accept no name for it. Throws 400 if the format has no schema. */
export const schemaAlone = ({ schema }: Extract<AnswerFormat, { readonly kind: 'json_schema' }>): JsonObject => {
  if (schema !== undefined) return schema;
  const param = 'response_format.json_schema.schema';
  throw invalidRequest(param, `${param}: required with this model.`);
};

export type TextProtocol = TextModel['protocols'][number];

/** A request for text, valid for one model, with the values that decide about hold and provider. */
export interface TextRequest {
  readonly stream: boolean;
  /** Number of choices, each with its own output limit. */
  readonly choices: number;
  /** Output limit per choice that the client set; undefined if it set none. */
  readonly outputTokensMax: number | undefined;
  readonly usesTools: boolean;
  /** Level of reasoning in the words of the client's protocol; undefined if it set none that the model has. */
  readonly effort: string | undefined;
  /** Alternatives per output token plus the token itself, if the response has them. */
  readonly logprobsPerToken?: number | undefined;
  readonly prompt: PromptSize;
  /** How prompt tokens are priced. */
  readonly promptPricing: PromptPricing;
  /** Name of the size of the requested image, if the client chose one. */
  readonly imageTier?: string | undefined;
  /** Valid body in the client's protocol, without the fields that are not forwarded. */
  readonly body: JsonObject;
  /** Headers of the provider's request, in addition to those of its catalog entry; for native formats only. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Names of the request fields that are ignored with this model (GEN-16). */
  readonly ignored: readonly string[];
  /** Stop sequences at which the gateway cuts the output, because the provider does not get them (CHAT-17). */
  readonly cutAt?: readonly string[] | undefined;
  /** Function names of the client by the names that the provider gets instead (CHAT-5). Undefined if none differs. */
  readonly ownNames?: ReadonlyMap<string, string>;
  /** Returns the request as a `Conversation`, for providers with another protocol. Native protocols have none. */
  readonly toConversation?: () => Conversation;
}

export type ImageDetail = keyof TextModel['imageTokensMax'];

/** Basis of the estimate, not a count of the provider. */
export interface PromptSize {
  /** UTF-8 bytes of everything except inline images, recordings and PDF documents. */
  readonly bytes: number;
  /** Estimated tokens of the text. Without it, each byte counts as a token. */
  readonly textTokens?: number;
  /** Tokens that the provider adds to the text, such as the definition of a tool that it knows by name. */
  readonly addedTokens?: number;
  /** Whether a part has tokens that its bytes do not limit, such as encrypted reasoning. */
  readonly hasOpaqueParts?: boolean;
  /** Detail of each image. */
  readonly images: readonly ImageDetail[];
  /** Number of videos and sound recordings, inline or by link. */
  readonly recordings?: number;
  /** Number of PDF documents. Plain-text documents count as text. */
  readonly documents?: number;
}

/** Fallback models as the client named them (FALL-1). */
export interface NamedFallbacks {
  /** Name of the header, for errors. */
  readonly header: string;
  /** One to three ids or aliases, in the order of the client. */
  readonly modelIds: readonly string[];
}

/** Parameters of the client before the model is looked up. */
export interface TextParams {
  readonly protocol: TextProtocol;
  readonly modelId: string;
  /** End user, as the client names them. Stored with the charge and the log (CHAT-15). */
  readonly endUser: string | undefined;
  /** Fallback models that the client named, used if the circuit of the requested model is open (FALL-1). */
  readonly fallbacks?: NamedFallbacks | undefined;
  /** Names of the prompt and of the output limit in the client's protocol, for errors. */
  readonly params: { readonly prompt: string; readonly cap: string };
  /** Checks the request against the catalog entry of a model. Throws a GatewayError that names the field. */
  validateFor(model: TextModel): TextRequest;
}
