import type { TextAnswer, WireAnswer } from '../../core/text/text-wire.ts';
import { readJsonText } from '../read-json.ts';
import { filtered, incomplete } from '../refusals.ts';
import type { UpstreamResponse } from '../upstream-http.ts';
import { blocked, finishReasonOf, type Generated, type InBand, partsOf, toGenerated } from './chunk.ts';
import { refuseBlocked, toFinishReason } from './finish.ts';
import { toToolCall } from './function-calls.ts';
import { LinkedContent, type LinkImage } from './linked-content.ts';
import { holdsImage, toDrawnUsage, toTokenUsage } from './usage.ts';

export const readAnswer = async (response: UpstreamResponse, inBand: InBand): Promise<WireAnswer> => {
  const { text, value } = await readJsonText(response);
  const { body, ...generated } = toGenerated(value, inBand);
  if (generated.candidates.length === 0 && !blocked(generated)) throw incomplete();
  const usage = inBand.linkImage
    ? toDrawnUsage(generated.usageMetadata, holdsImage(text))
    : toTokenUsage(generated.usageMetadata);
  return inBand.protocol === 'generate_content'
    ? { kind: 'answer', content: { kind: 'native', text, body }, usage }
    : { kind: 'answer', content: { kind: 'neutral', answer: await toTextAnswer(generated, inBand.linkImage) }, usage };
};

const toTextAnswer = async (generated: Generated, linkImage: LinkImage | undefined): Promise<TextAnswer> => {
  if (blocked(generated)) throw filtered();
  const [candidate] = generated.candidates;
  const reason = candidate && finishReasonOf(candidate);
  if (!reason) throw incomplete();
  // Nothing of a blocked answer is stored.
  refuseBlocked(reason);
  const parts = partsOf(candidate);
  const toolCalls = parts
    .filter(({ functionCall }) => functionCall)
    .flatMap((part, index) => toToolCall(part, generated.responseId, index) ?? []);
  const content = new LinkedContent(linkImage);
  const text = parts.map((part) => content.take(part)).join('');
  const finishReason = toFinishReason(reason, { calls: toolCalls.length > 0, text: text !== '' });
  await content.store();
  return { text: text === '' && toolCalls.length > 0 ? null : text, refusal: null, toolCalls, finishReason };
};
