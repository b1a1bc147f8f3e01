import type { TokenUsage } from '../../../lambdas/core/pricing/charge.ts';

export type TextProtocol = 'chat_completions' | 'responses' | 'messages' | 'generate_content';

/** A response, in a form that all protocols share. */
export interface Reply {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  /** Finish reason in the protocol's own words. */
  readonly finish: string | null | undefined;
  readonly usage: TokenUsage;
}

export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly streamed: boolean;
  /** Time for which the provider caches the prompt. Only native messages have this field. */
  readonly cacheFor?: '5m' | '1h' | undefined;
}

/** An official SDK with the gateway's URL and API key, and the questions of all protocols. */
export interface ProtocolClient {
  /** Finish reasons for a complete output and for pending tool calls. */
  readonly finishes: { readonly done: string; readonly calling: string };
  text(question: Question): Promise<Reply>;
  /** Sends the question with a one-pixel image. */
  image(question: Question): Promise<Reply>;
  /** Requests output that matches the schema of a person. */
  schema(question: Question): Promise<Reply>;
  /** Sends the question with the weather tool, then the results. Returns both responses. */
  tools(question: Question): Promise<readonly [asked: Reply, answered: Reply]>;
}

export type Task = Exclude<keyof ProtocolClient, 'finishes'>;

export const pixel = {
  mediaType: 'image/png' as const,
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
};
export const pixelUrl = `data:${pixel.mediaType};base64,${pixel.data}`;

export const personSchema = {
  type: 'object' as const,
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
  additionalProperties: false,
};

export const weather = {
  name: 'weather',
  schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
};

/** Result of the weather tool for a call, in protocols that use text. */
export const resultFor = (args: unknown): string => `21 degrees for ${JSON.stringify(args)}`;

/** Parses a call in protocols with arguments as text. Throws an Error if they are not JSON. */
export const parsedCall = ({ name, arguments: text }: { readonly name: string; readonly arguments: string }) => ({
  name,
  arguments: JSON.parse(text) as unknown,
});
