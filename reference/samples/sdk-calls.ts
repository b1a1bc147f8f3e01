import { isJsonObject } from '../../lambdas/core/json.ts';
import type { RouteName } from '../../lambdas/routes.ts';
import type { Literal } from './literals.ts';
import type { SampleRequest } from './sample-request.ts';

export type Sdk = 'openai' | 'anthropic' | 'google';

/** Expression that a sample prints: one for both languages, or one for each. */
type Shown = string | { readonly python: string; readonly javascript: string };

/** Method of an SDK that calls a route. */
export interface SdkCall {
  readonly sdk: Sdk;
  /** Method of the client in camelCase, such as `chat.completions.create`. Python has it in snake_case. */
  readonly method: string;
  /** Expression of the variable `response`. Without it, the sample stores the response in a file. */
  readonly shown?: Shown;
  /** Text of one event of a stream, an expression of the variable `event`, and the condition of its presence. */
  readonly streamed?: { readonly when?: Shown; readonly text: Shown };
}

/**
 * Routes that the SDKs of OpenAI, Anthropic and Google call. Videos are not among them: OpenAI has deprecated these
 * methods, and they send forms, which cannot have an idempotency key.
 */
export const sdkCalls: Readonly<Partial<Record<RouteName, SdkCall>>> = {
  chatCompletions: {
    sdk: 'openai',
    method: 'chat.completions.create',
    shown: 'response.choices[0].message.content',
    streamed: {
      text: { python: 'event.choices[0].delta.content or ""', javascript: "event.choices[0]?.delta.content ?? ''" },
    },
  },
  responses: {
    sdk: 'openai',
    method: 'responses.create',
    shown: 'response.output_text',
    streamed: {
      when: {
        python: 'event.type == "response.output_text.delta"',
        javascript: "event.type === 'response.output_text.delta'",
      },
      text: 'event.delta',
    },
  },
  messages: {
    sdk: 'anthropic',
    method: 'messages.create',
    shown: { python: 'response.content[-1].text', javascript: 'response.content.at(-1).text' },
    streamed: {
      when: {
        python: 'event.type == "content_block_delta" and event.delta.type == "text_delta"',
        javascript: "event.type === 'content_block_delta' && event.delta.type === 'text_delta'",
      },
      text: 'event.delta.text',
    },
  },
  countMessageTokens: { sdk: 'anthropic', method: 'messages.countTokens', shown: 'response.input_tokens' },
  generateContent: { sdk: 'google', method: 'models.generateContent', shown: 'response.text' },
  streamGenerateContent: {
    sdk: 'google',
    method: 'models.generateContentStream',
    streamed: { text: { python: 'event.text or ""', javascript: "event.text ?? ''" } },
  },
  countContentTokens: {
    sdk: 'google',
    method: 'models.countTokens',
    shown: { python: 'response.total_tokens', javascript: 'response.totalTokens' },
  },
  embeddings: { sdk: 'openai', method: 'embeddings.create', shown: 'response.data[0].embedding' },
  moderations: { sdk: 'openai', method: 'moderations.create', shown: 'response.results[0].flagged' },
  generateImages: { sdk: 'openai', method: 'images.generate', shown: 'response.data[0].url' },
  editImages: { sdk: 'openai', method: 'images.edit', shown: 'response.data[0].url' },
  transcribe: { sdk: 'openai', method: 'audio.transcriptions.create', shown: 'response.text' },
  speak: { sdk: 'openai', method: 'audio.speech.create' },
  listModels: {
    sdk: 'openai',
    method: 'models.list',
    shown: { python: '[model.id for model in response.data]', javascript: 'response.data.map(({ id }) => id)' },
  },
  getModel: { sdk: 'openai', method: 'models.retrieve', shown: 'response.id' },
  listGoogleModels: {
    sdk: 'google',
    method: 'models.list',
    shown: { python: '[model.name for model in response]', javascript: 'response.page.map(({ name }) => name)' },
  },
  getGoogleModel: { sdk: 'google', method: 'models.get', shown: 'response.name' },
};

export const shownIn = (shown: Shown, language: 'python' | 'javascript'): string =>
  typeof shown === 'string' ? shown : shown[language];

/**
 * Returns the named arguments of an SDK call. Google's SDKs take the id of the path as `model`, and every member of a
 * request except the contents in `config`, without `generationConfig` around it.
 */
export const sdkArguments = (
  { ids, body }: SampleRequest,
  { sdk }: SdkCall,
): Readonly<Record<string, Literal | undefined>> => {
  const value = body?.value ?? {};
  if (sdk !== 'google') return value;
  const { contents, generationConfig, ...others } = value;
  const config = { ...others, ...(isJsonObject(generationConfig) ? generationConfig : {}) };
  return {
    ...(ids[0] !== undefined && { model: ids[0] }),
    ...(contents !== undefined && { contents }),
    ...(Object.keys(config).length > 0 && { config }),
  };
};
