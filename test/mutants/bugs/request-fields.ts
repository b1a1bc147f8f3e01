import { bugsIn, type MoneyBug } from './money-bug.ts';

const chatTests = 'test/lambdas/protocols/chat-completions/request-vendor-fields.test.ts';
const contentMeasureTests = 'test/lambdas/protocols/generate-content/request-measure.test.ts';
const contentIgnoredTests = 'test/lambdas/protocols/generate-content/request-ignored.test.ts';
const bodyTests = 'test/lambdas/protocols/chat-completions/body.test.ts';

const messagesTests = 'test/lambdas/protocols/messages';

/** Mistakes in accepting, ignoring and forwarding request fields, and in counting them in the hold. */
export const requestFieldBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/protocols/fields.ts', 'test/lambdas/protocols/fields.test.ts', [
    {
      id: 'unknown-field-sent',
      what: 'A field that the gateway does not know is forwarded and may cost money at the provider.',
      find: '  if (!policy) return member;\n',
      replace: '  if (policy) return member;\n',
    },
    {
      id: 'null-that-means-something-removed',
      what: 'A meaningful null is not forwarded to the model.',
      find: '&& !policy?.nullable?.includes(name)',
      replace: '',
    },
    {
      id: 'copied-field-listed',
      what: 'A client that requires all parameters is rejected when it sends back an earlier response.',
      find: "if (unknown === 'accept' || place.isCopied) return;\n",
      replace: 'if (place.isCopied) return;\n',
    },
    {
      id: 'two-spellings-of-one-field',
      what: 'With two spellings of one cap, the last one counts.',
      find: '    if (spelled?.has(name)) throw twoSpellings(pathIn(place, written));\n',
      replace: '',
    },
    {
      id: 'refused-tool-left-out',
      what: 'A tool that runs at the provider is ignored, and the client pays for a response without it.',
      find: '(kinds || emptyRefused?.includes(name))',
      replace: 'emptyRefused?.includes(name)',
    },
    {
      id: 'misspelled-cap-ignored',
      what: 'A response is longer, and costs more, than the client asked for under a misspelled name.',
      find: 'EDITS_MAX = 2',
      replace: 'EDITS_MAX = 0',
    },
  ]),
  ...bugsIn('lambdas/protocols/chat-completions/request.ts', chatTests, [
    {
      id: 'instruction-without-hold',
      what: 'The hold does not include the sentence that asks Claude for JSON.',
      find: 'promptTextTokens([sent, instruction, ...',
      replace: 'promptTextTokens([sent, ...',
    },
    {
      id: 'ignored-field-held',
      what: 'An ignored field raises the hold, and a long one exceeds the context.',
      find: 'const isAsItCame = kept.body === json && ignored.names.length === 0 && !isFitted && !mayChange(body);',
      replace: 'const isAsItCame = true;',
    },
    {
      id: 'cap-by-its-newer-name',
      what: 'The hold ignores a cap under its newer name.',
      find: 'outputTokensMax: body.max_completion_tokens ?? body.max_tokens ?? undefined',
      replace: 'outputTokensMax: body.max_tokens ?? undefined',
      caughtBy: 'test/lambdas/protocols/chat-completions/request-constraints.test.ts',
    },
  ]),
  ...bugsIn('lambdas/protocols/chat-completions/conversation.ts', chatTests, [
    {
      id: 'thoughts-sent-back',
      what: 'Thoughts that a client copies from a response are forwarded again and charged.',
      find: "parts.filter((part) => part.type === 'text' || part.type === 'refusal')",
      replace: 'parts.filter((part): part is Said => true)',
    },
  ]),
  ...bugsIn('lambdas/protocols/chat-completions/body.ts', bodyTests, [
    {
      id: 'provider-tool-in-a-chat',
      what: 'A tool that runs at the provider passes as a function, and its calls are not in the hold.',
      find: "type: z.literal('function', 'must be \"function\": other tools need the responses endpoint')",
      replace: 'type: z.string()',
    },
    {
      id: 'paid-cache-retention',
      what: 'A cache retention that the provider bills separately is forwarded.',
      find: ".enum(['in_memory', 'in-memory'], ",
      replace: ".enum(['in_memory', 'in-memory', '24h'], ",
    },
    {
      id: 'expensive-service-tier',
      what: 'A service tier with a higher price is forwarded.',
      find: ".enum(['auto', 'default'], ",
      replace: ".enum(['auto', 'default', 'priority'], ",
    },
  ]),
  ...bugsIn('lambdas/protocols/messages/sent-body.ts', `${messagesTests}/sent-body-betas.test.ts`, [
    {
      id: 'priced-beta-forwarded',
      what: 'A beta that changes the price, such as a faster mode, is forwarded.',
      find: 'return [...named].filter((value) => forwarded.has(value));',
      replace: 'return [...named];',
    },
  ]),
  ...bugsIn('lambdas/protocols/messages/blocks.ts', `${messagesTests}/sent-body-betas.test.ts`, [
    {
      id: 'provider-tool-inside-an-addition',
      what: 'A tool that runs at the provider is defined within a conversation, and its calls are not in the hold.',
      find: 'const toolChange = { tool: declaredTool,',
      replace: 'const toolChange = { tool: anyObject,',
    },
    {
      id: 'retention-inside-a-document',
      what: 'A block within a document requests a cache write that the hold does not price.',
      find: "  if (block.type !== 'document' || block.source.type !== 'content') return [];\n",
      replace: "  if (block.type !== 'document' || block.source.type === 'content') return [];\n",
      caughtBy: `${messagesTests}/request.test.ts`,
    },
  ]),
  ...bugsIn('lambdas/protocols/messages/body.ts', `${messagesTests}/body.test.ts`, [
    {
      id: 'cap-of-another-protocol-ignored',
      what: 'A response costs more than the client allowed, because the cap has the name of another endpoint.',
      find: 'guarded: guardedNames, refused',
      replace: 'refused',
    },
    {
      id: 'summary-at-the-provider',
      what: 'A compaction is accepted as an edit, and its second model call is not in the hold.',
      find: "type: z.literal('clear_thinking_20251015')",
      replace: "type: z.literal(['clear_thinking_20251015', 'compact_20260112'])",
    },
  ]),
  ...bugsIn('lambdas/protocols/messages/request.ts', `${messagesTests}/request.test.ts`, [
    {
      id: 'pdf-without-hold',
      what: 'A PDF document is held for no tokens, and hundreds of pages are charged.',
      find: '      documents += 1;\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/protocols/messages/request.ts', `${messagesTests}/request-added-tokens.test.ts`, [
    {
      id: 'references-held-once',
      what: 'A conversation that loads one large tool many times costs more than its hold.',
      find: 'references.reduce(',
      replace: '[...new Set(references)].reduce(',
    },
  ]),
  ...bugsIn('lambdas/protocols/messages/request.ts', `${messagesTests}/sent-body.test.ts`, [
    {
      id: 'ignored-member-of-a-message-held',
      what: 'An ignored member of a message raises the hold.',
      find: 'if (!isAsItCame) return Buffer.byteLength(JSON.stringify(sent));',
      replace: 'if (!isAsItCame) return bodyBytes;',
    },
  ]),
  ...bugsIn(
    'lambdas/protocols/generate-content/request.ts',
    [contentMeasureTests, contentIgnoredTests],
    [
      {
        id: 'document-held-without-its-text',
        what: 'A document of a million words is held as a prompt without text.',
        find: 'texts.length > 0 ? [request.sent, ...texts] : request.sent',
        replace: 'request.sent',
      },
      {
        id: 'ignored-content-field-held',
        what: 'An ignored field of generateContent raises the hold.',
        find: 'isWhole && request.isWhole && ',
        replace: '',
      },
    ],
  ),
  ...bugsIn('lambdas/protocols/generate-content/media.ts', contentMeasureTests, [
    {
      id: 'pdf-held-without-its-pages',
      what: 'A PDF document with a thousand pages is held as a prompt without pages.',
      find: "counted.filter((kind) => kind === 'document').length",
      replace: '0',
    },
  ]),
];
