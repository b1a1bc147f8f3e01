import type { TokenUsage } from '../../../lambdas/core/pricing/charge.ts';

export type TextProtocol = 'chat_completions' | 'responses' | 'messages' | 'generate_content';

/** What a client of any protocol gets out of one answer. */
export interface Reply {
  readonly model: string;
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  /** Why it ended, in the protocol's own words. */
  readonly finish: string | null | undefined;
  readonly usage: TokenUsage;
}

export interface Question {
  readonly model: string;
  readonly prompt: string;
  readonly streamed: boolean;
  /** How long the vendor is to keep the prompt; native messages alone can say so. */
  readonly cacheFor?: '5m' | '1h' | undefined;
}

/** An official SDK with another address and another key, put to the same questions as the others. */
export interface ProtocolClient {
  /** How the protocol says that the model is done, and that it waits for results. */
  readonly finishes: { readonly done: string; readonly calling: string };
  text(question: Question): Promise<Reply>;
  /** With the pixel. */
  image(question: Question): Promise<Reply>;
  /** To be answered by what fits the schema of a person. */
  schema(question: Question): Promise<Reply>;
  /** With the weather tool, whose results follow: the calls, and what is made of them. */
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

/** What the weather tool gives for one call, in every protocol that wants text. */
export const resultFor = (args: unknown): string => `21 degrees for ${JSON.stringify(args)}`;

/** For protocols that have arguments as text; whatever is no JSON fails. */
export const parsedCall = ({ name, arguments: text }: { readonly name: string; readonly arguments: string }) => ({
  name,
  arguments: JSON.parse(text) as unknown,
});
