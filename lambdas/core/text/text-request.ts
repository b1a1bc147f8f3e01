import type { TextModel } from '../catalog/schema.ts';
import type { JsonObject } from '../json.ts';

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
  /** The body in the client's protocol, valid and without what is not to be sent on. */
  readonly body: JsonObject;
}

export type ImageDetail = keyof TextModel['imageTokensMax'];

/** What the estimate is made from: neither number is a token count. */
export interface PromptSize {
  /** UTF-8 bytes of everything but inline images. */
  readonly bytes: number;
  /** The detail of each image. */
  readonly images: readonly ImageDetail[];
}

/** What a client asked for before a model was looked up. */
export interface TextOrder {
  readonly protocol: TextProtocol;
  readonly modelId: string;
  /** The client's own name for its end user; kept with the charge and the log (CHAT-15). */
  readonly endUser: string | undefined;
  /** Checks the request against a model's entry. Throws GatewayError naming the field. */
  prepare(model: TextModel): TextRequest;
}
