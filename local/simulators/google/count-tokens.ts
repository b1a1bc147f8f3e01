import { jsonAnswer, type Wire } from '../wire.ts';
import { hasApiKey } from './call.ts';
import { framed, googleRefusal, invalidArgument } from './error.ts';
import { googleHeaders } from './headers.ts';
import { findModel } from './models.ts';
import { parseBody } from './parse.ts';
import { countRequest } from './request.ts';
import { countPrompt, toDetails, totalOf } from './usage.ts';

/** `countTokens`, of contents or of a whole request. Source: https://ai.google.dev/api/tokens */
export const googleCountTokens: Wire = {
  method: 'POST',
  path: /^\/v1(beta)?\/models\/[^/:]+:countTokens$/,
  isAuthorized: hasApiKey,
  lastUserText: () => '',
  answer(request) {
    findModel(request);
    const { contents, generateContentRequest } = parseBody(countRequest, request.body);
    if ((contents === undefined) === (generateContentRequest === undefined)) throw invalidArgument();
    const tokens = countPrompt(generateContentRequest ?? { contents });
    return jsonAnswer({ totalTokens: totalOf(tokens), promptTokensDetails: toDetails(tokens) });
  },
  refuse: (refusal, request) => framed(googleRefusal(refusal, request), request),
  errorFrame: () => '',
  headers: googleHeaders,
};
