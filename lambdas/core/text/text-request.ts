import type { TextModel } from '../catalog/schema.ts';
import type { JsonObject } from '../json.ts';
import type { PromptPricing } from '../pricing/text-price.ts';
import type { Conversation } from './conversation.ts';

export type TextProtocol = TextModel['protocols'][number];

/** A request for text, valid for one model, in the terms the core decides by. */
export interface TextRequest {
  readonly stream: boolean;
  /** Answers asked for at once, each with its own cap. */
  readonly choices: number;
  /** The client's own cap per answer, if it sent one. */
  readonly outputTokensMax: number | undefined;
  readonly usesTools: boolean;
  readonly effort: string | undefined;
  readonly prompt: PromptSize;
  /** How the prompt's tokens are told apart by price. */
  readonly promptPricing: PromptPricing;
  /** The size of the image that the answer is to hold, by name, where the client chose one. */
  readonly imageTier?: string | undefined;
  /** The body in the client's protocol, valid and without what is not to be sent on. */
  readonly body: JsonObject;
  /** Of the provider's request, beside those of its entry; for a native format alone. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Names of the request's fields that are ignored with this model (GEN-16). */
  readonly ignored: readonly string[];
  /** The same in the core's own terms, for wires of another protocol; native formats have none. */
  readonly toConversation?: () => Conversation;
}

export type ImageDetail = keyof TextModel['imageTokensMax'];

/** What the estimate is made from: none of it is the vendor's own count. */
export interface PromptSize {
  /** UTF-8 bytes of everything but inline images, recordings and PDF documents. */
  readonly bytes: number;
  /** What the same text may have in tokens. A size without it counts a token for each byte. */
  readonly textTokens?: number;
  /** What the provider puts beside the text, such as the definition of a tool that it knows by name. */
  readonly addedTokens?: number;
  /** The detail of each image. */
  readonly images: readonly ImageDetail[];
  /** How many videos and sound recordings there are, inline or by link. */
  readonly recordings?: number;
  /** How many PDF documents there are. Documents of plain text count as text. */
  readonly documents?: number;
}

/** What a client asked for before a model was looked up. */
export interface TextOrder {
  readonly protocol: TextProtocol;
  readonly modelId: string;
  /** The client's own name for its end user; kept with the charge and the log (CHAT-15). */
  readonly endUser: string | undefined;
  /** The reserve the client named for the case that the circuit of its model is open (FALL-1). */
  readonly fallbackModelId?: string | undefined;
  /** What the client's protocol calls the prompt and the cap, for refusals. */
  readonly params: { readonly prompt: string; readonly cap: string };
  /** Checks the request against a model's entry. Throws GatewayError naming the field. */
  prepare(model: TextModel): TextRequest;
}
