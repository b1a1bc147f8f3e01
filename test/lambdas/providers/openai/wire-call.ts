import type { JsonObject } from '../../../../lambdas/core/json.ts';
import type { TextRequest } from '../../../../lambdas/core/text/conversation.ts';
import type { Dispatch, WireCall } from '../../../../lambdas/core/text/text-wire.ts';
import { upstream } from '../../core/catalog/sample-data.ts';
import { providerOf, textModel, upstreamOf } from '../../core/text/text-models.ts';

interface FunctionDependencies {
  readonly body?: JsonObject;
  readonly stream?: boolean;
  readonly choices?: number;
  readonly provider?: Readonly<Record<string, unknown>>;
}

export const chatBody: JsonObject = { model: 'alpha-1', messages: [{ role: 'user', content: 'Hi' }] };

/** Call of the model `alpha-1`, which its provider calls `vendor-name`. */
export const wireCall = (parts: FunctionDependencies = {}): WireCall => {
  const model = textModel({ upstreams: [upstream({ model: 'vendor-name' })] });
  const request: TextRequest = {
    stream: parts.stream ?? false,
    choices: parts.choices ?? 1,
    outputTokensMax: undefined,
    usesTools: false,
    effort: undefined,
    prompt: { bytes: 100, images: [] },
    promptPricing: 'one-rate',
    ignored: [],
    body: parts.body ?? chatBody,
  };
  return {
    protocol: 'chat_completions',
    request,
    model,
    upstream: upstreamOf(model),
    provider: providerOf(parts.provider),
  };
};

export const dispatch = (changes: Partial<Dispatch> = {}): Dispatch => ({
  outputTokensMax: 321,
  signal: new AbortController().signal,
  ...changes,
});
