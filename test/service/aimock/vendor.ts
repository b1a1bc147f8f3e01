import type { IncomingMessage } from 'node:http';
import {
  type ChaosConfig,
  createServer,
  type Fixture,
  type FixtureOpts,
  type FixtureResponse,
} from '@copilotkit/aimock';
import * as z from 'zod';

/** Raw request of the gateway. The package's own journal contains only the parts that it understood. */
export interface SentRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface IndependentVendor {
  /** Base URL without a path. */
  readonly url: string;
  /** Requests in order of arrival since the last `says`. */
  readonly sent: readonly SentRequest[];
  /** Sets the response to all later requests. */
  says(response: FixtureResponse, options?: FixtureOpts): void;
  /** Turns, tools and token cap that the package read from the last request, in any protocol. */
  understood(): readonly string[];
  stop(): Promise<void>;
}

/** `@copilotkit/aimock`: every provider on one port. Its authors do not know the gateway. */
export async function startIndependentVendor(): Promise<IndependentVendor> {
  const fixtures: Fixture[] = [];
  const sent: SentRequest[] = [];
  const options = { port: 0, host: '127.0.0.1', strict: true };
  const { server, journal, url } = await createServer(fixtures, options);
  server.prependListener('request', (request) => overhear(request, sent));
  return {
    url,
    sent,
    says: (response, options) => {
      sent.splice(0);
      journal.clear();
      fixtures.splice(0, fixtures.length, { match: {}, response, ...options });
    },
    understood: () => toFacts(journal.getLast()?.body),
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

type Fault = 'drop' | 'malformed' | 'rateLimit' | 'disconnect';

/** Returns a fault for every request instead of a response. */
export const always = (fault: Fault): { readonly chaos: ChaosConfig } => ({ chaos: { [`${fault}Rate`]: 1 } });

/** Records forwarded chunks: a listener for `data` would start the flow before the package reads. */
function overhear(request: IncomingMessage, sent: SentRequest[]): void {
  const chunks: Buffer[] = [];
  const emit = request.emit.bind(request);
  // Copied, because the package later adds a header of its own.
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  request.emit = (event: string | symbol, ...rest: unknown[]): boolean => {
    if (event === 'data' && rest[0] instanceof Buffer) chunks.push(rest[0]);
    if (event === 'end') sent.push({ path: request.url ?? '', headers, body: JSON.parse(`${Buffer.concat(chunks)}`) });
    return emit(event, ...rest);
  };
}

/** The package stores every request in the chat format. */
const readRequest = z.object({
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.string().nullable(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
        .default([]),
    }),
  ),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
  max_tokens: z.int().optional(),
  max_completion_tokens: z.int().optional(),
});

function toFacts(body: unknown): readonly string[] {
  const { messages, tools, max_tokens, max_completion_tokens } = readRequest.parse(body);
  return [
    ...messages.flatMap(({ role, content, tool_call_id, tool_calls }) => [
      ...(content ? [[role, tool_call_id, bareResult(content)].filter(Boolean).join(' ')] : []),
      ...tool_calls.map((call) => `${role} ${call.id} ${call.function.name} ${call.function.arguments}`),
    ]),
    ...tools.map((tool) => `tool ${tool.function.name}`),
    `cap ${max_tokens ?? max_completion_tokens}`,
  ];
}

/** Unwraps the object in which a tool result reaches Gemini, so that the results of all providers are equal. */
const bareResult = (content: string): string => content.replace(/^\{"result":"(.+)"\}$/, '$1');
