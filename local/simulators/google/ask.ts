import { type Ask, reasoningTokensByEffort } from '../compose.ts';
import { isRecord } from '../json-sample.ts';
import { imagesOf } from './media.ts';
import type { Model } from './models.ts';
import type { Content, GenerateRequest } from './request.ts';

/** Additional markers for behavior that only this provider has. */
const ownMarkers = { usageAlone: '[[usage-alone]]', bareError: '[[bare-error]]' } as const;

export function isMarked(text: string, marker: keyof typeof ownMarkers): boolean {
  return text.includes(ownMarkers[marker]);
}

type Loose = { readonly role?: string; readonly parts?: readonly { readonly text?: string }[] };

/** Returns the last text of the user; empty if the contents hold only function responses. */
export function lastUserContent<Each extends Loose>(contents: readonly Each[]): Each | undefined {
  return contents.findLast(({ role, parts }) => !/^model$/i.test(role ?? '') && parts?.some(({ text }) => text));
}

export function contentText(content: Loose | undefined): string {
  return (content?.parts ?? []).map(({ text }) => text ?? '').join('\n');
}

export function toAsk(request: GenerateRequest, model: Model, cap: number): Ask {
  const { contents = [], generationConfig = {} } = request;
  const words = lastUserContent(contents);
  const since = words === undefined ? contents : contents.slice(contents.indexOf(words));
  const prompt = Object.values(ownMarkers).reduce((text, marker) => text.replaceAll(marker, ''), contentText(words));
  return {
    model: model.id,
    prompt,
    images: words === undefined ? [] : imagesOf(words),
    toolResults: since.flatMap(resultsOf),
    ...toTools(request),
    parallelTools: true,
    format: toFormat(generationConfig),
    stop: generationConfig.stopSequences ?? [],
    cap,
    reasoningTokens: toReasoningTokens(generationConfig, model),
  };
}

function resultsOf({ parts = [] }: Content): readonly string[] {
  return parts.flatMap(({ functionResponse: { response } = {} }) => {
    if (response === undefined) return [];
    const output = response.output ?? response.result;
    return typeof output === 'string' ? output : JSON.stringify(response);
  });
}

function toTools({ tools = [], toolConfig }: GenerateRequest): Pick<Ask, 'tools' | 'toolChoice'> {
  const { mode = 'AUTO', allowedFunctionNames: allowed = [] } = toolConfig?.functionCallingConfig ?? {};
  const declared = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const offered = declared.filter(({ name = '' }) => allowed.length === 0 || allowed.includes(name));
  const callable = offered.map(({ name = '', parameters, parametersJsonSchema }) => ({
    name,
    schema: parametersJsonSchema ?? toJsonSchema(parameters) ?? { type: 'object' },
  }));
  const choice = mode === 'NONE' ? 'none' : 'auto';
  return { tools: callable, toolChoice: mode === 'ANY' ? 'required' : choice };
}

function toFormat(config: NonNullable<GenerateRequest['generationConfig']>): Ask['format'] {
  const { responseMimeType: type = 'text/plain', responseSchema, responseJsonSchema } = config;
  if (type === 'text/plain') return 'text';
  const schema = responseJsonSchema ?? toJsonSchema(responseSchema);
  return schema === undefined ? 'json' : { schema };
}

/** Google's schemas write JSON types in capitals. */
function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : toJsonSchema(value),
    ]),
  );
}

/**
 * Returns the reasoning tokens of a budget, at most those of the highest level. Without a budget, or with -1, the level
 * or the model's default level applies.
 */
function toReasoningTokens(config: NonNullable<GenerateRequest['generationConfig']>, model: Model): number {
  const { thinkingLevel: level = 'THINKING_LEVEL_UNSPECIFIED', thinkingBudget: budget = -1 } =
    config.thinkingConfig ?? {};
  if (budget >= 0) return Math.min(budget, reasoningTokensByEffort.max ?? 0);
  const chosen = level === 'THINKING_LEVEL_UNSPECIFIED' ? model.defaultLevel : level.toLowerCase();
  return reasoningTokensByEffort[chosen] ?? 0;
}
