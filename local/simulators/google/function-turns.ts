import type { VendorRefusal } from '../wire.ts';
import { invalidArgument } from './error.ts';
import type { Content, Part } from './request.ts';

const signaturePrefix = 'simulated-thought-';

/** Values that turn the check off. Source: https://ai.google.dev/gemini-api/docs/thought-signatures */
const sentinels = new Set(['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go']);

export function newThoughtSignature(): string {
  return Buffer.from(`${signaturePrefix}${crypto.randomUUID()}`).toString('base64');
}

/**
 * Checks that function calls and their responses are in order, and that calls contain the model's thought signatures.
 */
export function refuseTurns(contents: readonly Content[], needsSignatures: boolean): VendorRefusal | undefined {
  return refuseOrder(contents) ?? (needsSignatures ? refuseSignatures(contents) : undefined);
}

/**
 * Sources of the messages: https://github.com/lobehub/lobehub/issues/7298,
 * https://github.com/google-gemini/gemini-cli/issues/16984
 */
function refuseOrder(contents: readonly Content[]): VendorRefusal | undefined {
  for (const [index, content] of contents.entries()) {
    const before = contents[index - 1];
    const refusal = refuseCalls(content, before, contents[index + 1]) ?? refuseResponses(content, before);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

type Neighbour = Content | undefined;

function refuseCalls(content: Content, before: Neighbour, after: Neighbour): VendorRefusal | undefined {
  const calls = callsOf(content);
  if (calls.length === 0) return undefined;
  if (before === undefined || isModel(before)) {
    return invalidArgument(
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    );
  }
  if (after !== undefined && responsesOf(after).length === calls.length) return undefined;
  return invalidArgument(
    'Please ensure that the number of function response parts is equal to the number of function call parts ' +
      'of the function call turn.',
  );
}

function refuseResponses(content: Content, before: Neighbour): VendorRefusal | undefined {
  const responses = responsesOf(content);
  if (responses.length === 0) return undefined;
  const calls = before === undefined ? [] : callsOf(before);
  if (calls.length === 0) {
    return invalidArgument('Please ensure that function response turn comes immediately after a function call turn.');
  }
  return responses.every((response) => calls.some((call) => answers(response, call))) ? undefined : invalidArgument();
}

type Named = { readonly id?: string; readonly name?: string };

function answers(response: Named, call: Named): boolean {
  const isSame = response.id === undefined || call.id === undefined || response.id === call.id;
  return isSame && response.name === call.name;
}

/**
 * Checks the contents after the last text of the user: the first call of each step must have its thought signature.
 * Sources: https://ai.google.dev/gemini-api/docs/thought-signatures, https://github.com/askimo-ai/askimo/issues/543
 * (message)
 */
function refuseSignatures(contents: readonly Content[]): VendorRefusal | undefined {
  const start = contents.findLastIndex((content) => !isModel(content) && responsesOf(content).length === 0);
  for (const [index, { parts = [] }] of contents.entries()) {
    if (index <= start) continue;
    const first = parts.find(({ functionCall }) => functionCall !== undefined);
    if (first === undefined) continue;
    if (first.thoughtSignature === undefined) return missingSignature(first, index + 1);
    if (!isGenuine(first.thoughtSignature)) return invalidArgument('Corrupted thought signature.');
  }
  return undefined;
}

function missingSignature({ functionCall }: Part, position: number): VendorRefusal {
  return invalidArgument(
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, ' +
      'and missing thought_signature may lead to degraded model performance. Additional data, function call ' +
      `\`default_api:${functionCall?.name}\` , position ${position}. ` +
      'Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.',
  );
}

function isGenuine(signature: string): boolean {
  return sentinels.has(signature) || Buffer.from(signature, 'base64').toString().startsWith(signaturePrefix);
}

function isModel({ role }: Content): boolean {
  return role?.toLowerCase() === 'model';
}

function callsOf(content: Content): readonly Named[] {
  return isModel(content) ? (content.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []) : [];
}

function responsesOf(content: Content): readonly Named[] {
  return isModel(content) ? [] : (content.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []);
}
