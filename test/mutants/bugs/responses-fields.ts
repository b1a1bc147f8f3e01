import { bugsIn, type MoneyBug } from './money-bug.ts';

const folder = 'test/lambdas/protocols/responses';
const toolTests = `${folder}/tools.test.ts`;

/** What a lenient parser of responses lets through. */
export const responsesFieldBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/protocols/responses/request.ts', `${folder}/request-ignored-fields.test.ts`, [
    {
      id: 'unknown-responses-field-sent',
      what: 'A field that responses do not have goes to the provider and may cost money there.',
      find: 'toSend(kept.body, body,',
      replace: 'toSend(parsed.json, body,',
    },
    {
      id: 'found-tools-without-hold',
      what: 'The hold does not count what the provider writes around tools that a search found.',
      find: 'hasTools(body) || hasFoundTools(body)',
      replace: 'hasTools(body)',
      caughtBy: toolTests,
    },
  ]),
  ...bugsIn('lambdas/protocols/responses/body.ts', toolTests, [
    {
      id: 'image-of-a-custom-tool-unpaid',
      what: 'The hold does not count images in the results of custom tools.',
      find: "if ('output' in entry)",
      replace: "if (entry.type === 'function_call_output')",
    },
  ]),
  ...bugsIn('lambdas/protocols/responses/tools.ts', toolTests, [
    {
      id: 'tool-search-of-the-provider',
      what: 'A search of tools runs at the provider, and what it loads is not in the hold.',
      find: "execution: z.enum(['client']),",
      replace: "execution: z.enum(['client', 'server']).nullish(),",
    },
    {
      id: 'programs-call-tools',
      what: 'A program that runs at the provider may call the tools of the client.',
      find: "listOf(z.enum(['direct'])",
      replace: "listOf(z.enum(['direct', 'programmatic'])",
    },
    {
      id: 'provider-tool-in-a-search-result',
      what: 'A tool that runs at the provider passes inside the result of a search.',
      find: "z.discriminatedUnion('type', clientTools({ unknown: 'accept' }))",
      replace: "z.union([...clientTools({ unknown: 'accept' }), anyObject])",
    },
  ]),
  ...bugsIn('lambdas/protocols/responses/to-send.ts', toolTests, [
    {
      id: 'cached-web-search-sent',
      what: 'A web search that a client offers unasked goes to the provider, which bills its calls.',
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
