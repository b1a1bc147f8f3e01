import { bugsIn, type MoneyBug } from './money-bug.ts';

const folder = 'test/lambdas/protocols/responses';
const toolTests = `${folder}/tools.test.ts`;

/** Bugs in the parsing of `/v1/responses` requests: they forward what must not be sent, or place too small a hold. */
export const responsesFieldBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/protocols/responses/request.ts', `${folder}/request-ignored-fields.test.ts`, [
    {
      id: 'unknown-responses-field-sent',
      what: 'A field that the responses API does not have is forwarded and may cost money at the provider.',
      find: 'toSend(kept.body, body,',
      replace: 'toSend(parsed.json, body,',
    },
    {
      id: 'found-tools-without-hold',
      what: 'The hold does not include the text that the provider adds around tools found by a search.',
      find: 'hasTools(body) || hasFoundTools(body)',
      replace: 'hasTools(body)',
      caughtBy: toolTests,
    },
  ]),
  ...bugsIn('lambdas/protocols/responses/body.ts', toolTests, [
    {
      id: 'image-of-a-custom-tool-unpaid',
      what: 'The hold does not include images in the results of custom tools.',
      find: "if ('output' in entry)",
      replace: "if (entry.type === 'function_call_output')",
    },
  ]),
  ...bugsIn('lambdas/protocols/responses/tools.ts', toolTests, [
    {
      id: 'tool-search-of-the-provider',
      what: 'A tool search runs at the provider, and the tools that it loads are not in the hold.',
      find: "execution: z.enum(['client']),",
      replace: "execution: z.enum(['client', 'server']).nullish(),",
    },
    {
      id: 'programs-call-tools',
      what: 'A program that runs at the provider can call the tools of the client.',
      find: "listOf(z.enum(['direct'])",
      replace: "listOf(z.enum(['direct', 'programmatic'])",
    },
    {
      id: 'provider-tool-in-a-search-result',
      what: 'A tool that runs at the provider passes within the result of a tool search.',
      find: "z.discriminatedUnion('type', clientTools({ unknown: 'accept' }))",
      replace: "z.union([...clientTools({ unknown: 'accept' }), anyObject])",
    },
  ]),
  ...bugsIn('lambdas/protocols/responses/to-send.ts', toolTests, [
    {
      id: 'cached-web-search-sent',
      what: 'An optional web search of a client is forwarded to the provider, which bills its calls.',
      find: "isJsonObject(tool) && tool.type === 'web_search'",
      replace: "isJsonObject(tool) && tool.type === 'web_searches'",
    },
  ]),
  ...bugsIn('lambdas/protocols/responses/request.ts', toolTests, [
    {
      id: 'live-web-search-dropped',
      what: 'A client that relies on a web search pays for a response without one.',
      find: "tool.type === 'web_search' && tool.external_web_access !== false",
      replace: "tool.type === 'web_search' && tool.external_web_access === null",
    },
  ]),
];
