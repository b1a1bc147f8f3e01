import type { VendorRefusal } from '../wire.ts';
import { refuseDrawing } from './drawing.ts';
import { googleError, invalidArgument } from './error.ts';
import { refuseTurns } from './function-turns.ts';
import { refuseMedia } from './media.ts';
import { isGemini3OrLater, type Model } from './models.ts';
import type { Content, FunctionDeclaration, GenerateRequest, Part } from './request.ts';
import { refuseJsonSchema } from './schema-rules.ts';

type Rule = (request: GenerateRequest, model: Model) => VendorRefusal | undefined;

/** Rejects a readable request that violates a rule of the provider. */
export function obeyRules(request: GenerateRequest, model: Model): void {
  for (const rule of rules) {
    const refusal = rule(request, model);
    if (refusal !== undefined) throw refusal;
  }
}

const rules: readonly Rule[] = [
  ({ contents }) => refuseContents(contents ?? []),
  ({ systemInstruction }) =>
    systemInstruction === undefined ? undefined : refuseParts(systemInstruction, 'system_instruction'),
  refuseThinking,
  refuseUnsupported,
  refuseFunctions,
  refuseFormats,
  refuseDrawing,
  ({ contents = [] }, model) => refuseMedia(contents, isGemini3OrLater(model.id)),
  ({ contents = [] }, model) => refuseTurns(contents, isGemini3OrLater(model.id)),
  ({ contents = [] }) => refuseReferences(contents),
  ({ contents = [] }) => refuseEnds(contents),
  ({ cachedContent }) =>
    cachedContent === undefined ? undefined : googleError(403, 'CachedContent not found (or permission denied)'),
];

function refuseContents(contents: readonly Content[]): VendorRefusal | undefined {
  if (contents.length === 0) return fieldError('contents', 'contents is not specified');
  for (const [index, content] of contents.entries()) {
    const { role = 'user' } = content;
    if (!/^(user|model)$/i.test(role)) return invalidArgument('Please use a valid role: user, model.');
    const refusal = refuseParts(content, `contents[${index}]`);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/**
 * Sources: https://github.com/NousResearch/hermes-agent/issues/55427 (2026-06-30, the model first),
 * https://github.com/envoyproxy/ai-gateway/pull/2686 (2026-09-14, the model last)
 */
function refuseEnds(contents: readonly Content[]): VendorRefusal | undefined {
  const isModel = (content: Content | undefined) => content?.role?.toLowerCase() === 'model';
  if (isModel(contents[0]))
    return invalidArgument('Please ensure that multiturn requests alternate between user and model');
  return isModel(contents.at(-1)) ? invalidArgument('Requests ending with a model turn are not supported.') : undefined;
}

/**
 * Rejects every `$ref` in a function response. The documented use with a `displayName` is rejected too. Sources:
 * https://github.com/NousResearch/hermes-agent/issues/93014 (2026-08-23, references of a JSON schema),
 * https://github.com/googleapis/python-genai/issues/2792 (2026-07-30, names of parts)
 */
function refuseReferences(contents: readonly Content[]): VendorRefusal | undefined {
  const responses = contents.flatMap(({ parts = [] }) =>
    parts.flatMap(({ functionResponse }) => functionResponse ?? []),
  );
  const name = responses.map(({ response }) => referenceIn(response)).find((found) => found !== undefined);
  if (name === undefined) return undefined;
  return invalidArgument(
    `The referenced name \`${name}\` in function_response.response does not match to a display_name in the ` +
      'function_response.parts.',
  );
}

function referenceIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = name === '$ref' && typeof member === 'string' ? member : referenceIn(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

function refuseParts({ parts = [] }: Content, path: string): VendorRefusal | undefined {
  if (parts.length === 0) return fieldError(`${path}.parts`, 'contents.parts must not be empty.');
  const empty = parts.findIndex((part) => !hasData(part));
  if (empty < 0) return undefined;
  return fieldError(`${path}.parts[${empty}].data`, "required oneof field 'data' must have one initialized field");
}

/**
 * Whether a part has data. An empty text counts as missing unless it has a signature, as in the last part of a model's
 * response.
 */
function hasData({ thought, thoughtSignature, text, videoMetadata, partMetadata, ...data }: Part): boolean {
  if (text !== undefined && (text !== '' || thoughtSignature !== undefined)) return true;
  return Object.values(data).some((member) => member !== undefined);
}

/**
 * Sources: catalog/google.json (levels); https://github.com/sterlp/eclipse-peon-ai/issues/115 (level and budget in one
 * request), https://github.com/aduermael/herm/issues/23 (message for a budget that a model does not support)
 */
function refuseThinking({ generationConfig }: GenerateRequest, { id, levels }: Model): VendorRefusal | undefined {
  const { thinkingLevel: level, thinkingBudget: budget } = generationConfig?.thinkingConfig ?? {};
  if (level !== undefined && budget !== undefined) {
    return invalidArgument('You can only set only one of thinking budget and thinking level.');
  }
  if (level !== undefined && level !== 'THINKING_LEVEL_UNSPECIFIED' && !levels.includes(level.toLowerCase())) {
    return invalidArgument(
      `Thinking level ${level} is not supported for this model. Please retry with other thinking level.`,
    );
  }
  if (budget === undefined) return undefined;
  if (id === 'gemini-4-argon') return invalidArgument('Thinking budget is not supported for this model.');
  if (budget < -1 || budget > 32_768) return invalidArgument(`The thinking budget (${budget}) is invalid.`);
  const canRest = levels.includes('minimal');
  return budget === 0 && !canRest
    ? invalidArgument('Budget 0 is invalid. This model only works in thinking mode.')
    : undefined;
}

/**
 * Sources: https://github.com/googleapis/js-genai/issues/1609, https://github.com/googleapis/python-genai/issues/1921,
 * https://github.com/Ikalus1988/MisakaNet/issues/1473
 */
function refuseUnsupported({ generationConfig = {} }: GenerateRequest, { id }: Model): VendorRefusal | undefined {
  const { candidateCount = 1, presencePenalty, frequencyPenalty, responseLogprobs, logprobs } = generationConfig;
  if (candidateCount > 1) return invalidArgument('Multiple candidates is not enabled for this model');
  if ((presencePenalty ?? frequencyPenalty) !== undefined)
    return invalidArgument('Penalty is not enabled for this model');
  if (responseLogprobs === true || logprobs !== undefined)
    return invalidArgument(`Logprobs is not enabled for models/${id}`);
  return undefined;
}

function refuseFunctions({ tools = [], toolConfig }: GenerateRequest): VendorRefusal | undefined {
  const declared = new Set<string>();
  for (const [at, { functionDeclarations = [] }] of tools.entries()) {
    for (const [index, declaration] of functionDeclarations.entries()) {
      const refusal = refuseDeclaration(declaration, `tools[${at}].function_declarations[${index}]`, declared);
      if (refusal !== undefined) return refusal;
      declared.add(declaration.name ?? '');
    }
  }
  const { mode, allowedFunctionNames: allowed = [] } = toolConfig?.functionCallingConfig ?? {};
  const isForced = mode === 'ANY' || mode === 'VALIDATED';
  const isWrong = allowed.length > 0 && (!isForced || allowed.some((name) => !declared.has(name)));
  return isWrong ? invalidArgument() : undefined;
}

function refuseDeclaration(
  { name = '', parameters, parametersJsonSchema }: FunctionDeclaration,
  path: string,
  declared: ReadonlySet<string>,
): VendorRefusal | undefined {
  // https://github.com/kaitranntt/ccs/issues/25 (2025-11-30). The types of @google/genai 3.1.0 allow 128 characters.
  if (!/^[A-Za-z_][\w.:-]{0,63}$/.test(name))
    return fieldError(`${path}.name`, 'Invalid function name. Must start with a letter or an underscore.');
  if (parameters !== undefined && parametersJsonSchema !== undefined) return invalidArgument();
  if (declared.has(name)) return invalidArgument(`Duplicate function declaration found: ${name}`);
  // https://github.com/anomalyco/opencode/issues/12295 (2026-02-05, members beside a reference)
  return parametersJsonSchema === undefined ? undefined : refuseJsonSchema(parametersJsonSchema);
}

function refuseFormats({ generationConfig = {} }: GenerateRequest): VendorRefusal | undefined {
  const { responseMimeType: type, responseSchema, responseJsonSchema, stopSequences = [] } = generationConfig;
  if (stopSequences.length > 5) return invalidArgument();
  if (responseSchema !== undefined && responseJsonSchema !== undefined) return invalidArgument();
  const isStructured = type === 'application/json' || type === 'text/x.enum';
  if ((responseSchema ?? responseJsonSchema) !== undefined && !isStructured) return invalidArgument();
  return responseJsonSchema === undefined ? undefined : refuseJsonSchema(responseJsonSchema);
}

function fieldError(path: string, problem: string): VendorRefusal {
  return invalidArgument(`* GenerateContentRequest.${path}: ${problem}\n`);
}
