import * as z from 'zod';
import { compose } from '../compose.ts';
import { type Scenario, withoutMarkers } from '../scenario.ts';
import { type Answer, VendorRefusal, type Wire, type WireRequest } from '../wire.ts';
import { contentText, isMarked, lastUserContent, toAsk } from './ask.ts';
import { callOf, hasApiKey } from './call.ts';
import { continueFrom, limitsOf, tokenFor } from './continuation.ts';
import { draft, draw, imageTokensOf, saysText } from './drawing.ts';
import { errorBody, framed, googleRefusal, tooLong } from './error.ts';
import { googleHeaders } from './headers.ts';
import { findModel, type Model } from './models.ts';
import { parseBody } from './parse.ts';
import { repeated } from './proto.ts';
import { type Drawn, type Reply, toReply, toResponse } from './reply.ts';
import { type GenerateRequest, generateRequest } from './request.ts';
import { obeyRules } from './rules.ts';
import { errorElement, streamAnswer } from './stream.ts';
import { countPrompt, toCounts, totalOf } from './usage.ts';

/**
 * `generateContent` and `streamGenerateContent`. The SDKs have used `/v1` since November 2026. Sources:
 * https://ai.google.dev/api/generate-content, https://github.com/googleapis/js-genai/releases/tag/v3.0.0
 */
export const googleGenerate: Wire = {
  method: 'POST',
  path: /^\/v1(beta)?\/models\/[^/:]+:(generateContent|streamGenerateContent)$/,
  isAuthorized: hasApiKey,
  lastUserText,
  answer(request, scenario) {
    try {
      return answer(request, scenario);
    } catch (error) {
      throw error instanceof VendorRefusal ? framed(error, request) : error;
    }
  },
  refuse: (refusal, request) => framed(googleRefusal(refusal, request), request),
  errorFrame: (request) => errorElement(request, isMarked(lastUserText(request.body), 'bareError')),
  headers: googleHeaders,
};

function answer(request: WireRequest, scenario: Scenario): Answer {
  const { framing } = callOf(request);
  const reply = replyTo(request, scenario);
  if (framing === 'plain')
    return { kind: 'plain', contentType: 'application/json; charset=UTF-8', body: JSON.stringify(toResponse(reply)) };
  // The list has not started, so it contains only the error.
  if (framing === 'array' && scenario.errorAfter === 0) {
    return { kind: 'plain', contentType: 'application/json; charset=UTF-8', body: JSON.stringify([errorBody(503)]) };
  }
  return streamAnswer(reply, framing, isMarked(lastUserText(request.body), 'usageAlone'));
}

function replyTo(request: WireRequest, scenario: Scenario): Reply {
  const model = findModel(request);
  const body = parseBody(generateRequest, request.body);
  obeyRules(body, model);
  const prompt = countPrompt(body);
  const promptTokens = totalOf(prompt);
  if (promptTokens > model.inputTokenLimit) throw tooLong(promptTokens, model.inputTokenLimit);
  const limits = limitsOf(body, model, callOf(request).framing);
  const imageTokens = imageTokensOf(body, model);
  const drawing = imageTokens === undefined ? undefined : drawnBy(body, model, scenario, imageTokens <= limits.cap);
  const used = drawing?.kind === 'drawn' ? (imageTokens ?? 0) : 0;
  const ask = toAsk(body, model, limits.spoken + limits.cap - used);
  const composed = continueFrom(limits.spoken, compose(ask, scenario));
  const continuationToken = limits.isClients ? undefined : tokenFor(limits.spoken + limits.cap);
  const includeThoughts = body.generationConfig?.thinkingConfig?.includeThoughts === true;
  const counts = toCounts(prompt, composed, scenario.claimedUsage, used);
  const told = { includeThoughts, continuationToken, saysText: saysText(body), drawing };
  return toReply(model.id, composed, counts, told, scenario);
}

/** An image that does not fit in the token limit is not drawn. */
function drawnBy(body: GenerateRequest, model: Model, scenario: Scenario, fits: boolean): Drawn {
  const { failed = 0, blocked } = scenario.image ?? {};
  if (blocked) return { kind: 'blocked' };
  if (failed > 0) return { kind: 'failed' };
  if (!fits || !model.brush) return { kind: 'cut' };
  const about = withoutMarkers(contentText(lastUserContent(body.contents ?? [])));
  return {
    kind: 'drawn',
    part: draw(about, body, model.brush, scenario),
    ...(model.brush.drafts && { draft: draft(about) }),
  };
}

const looseContents = z.looseObject({
  contents: repeated(
    z.looseObject({
      role: z.string().optional(),
      parts: repeated(z.looseObject({ text: z.string().optional() })).optional(),
    }),
  ),
});

function lastUserText(body: unknown): string {
  return contentText(lastUserContent(looseContents.safeParse(body).data?.contents ?? []));
}
