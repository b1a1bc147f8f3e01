import * as routes from '../../support/hostile-routes.ts';
import { toBytes } from '../../support/hostile-wire.ts';
import type { Wire } from '../../support/protocol-usage.ts';
import { type Lane, type ReadStream, textLanes } from '../hostile-lanes.ts';

/** A path of a stream: a client protocol and a provider protocol. */
export interface Face {
  readonly name: string;
  readonly model: string;
  readonly wire: Wire;
  /** Whether the price of a prompt depends on its cache, as in native messages. */
  readonly atCacheRates: boolean;
  /** Number of provider events that only announce a response. */
  readonly opening: number;
  /** Pattern of a proper end. It must not match a failed stream. */
  readonly ending: RegExp;
  readonly shape: Lane['shape'];
  request(apiKey: string, prompt: string, headers?: readonly string[]): Buffer;
  read(body: string): Promise<ReadStream>;
}

/** Token cap of every output. */
export const CAP = 500;

const laneNamed = (name: string): Lane => {
  const lane = textLanes.find((one) => one.name === name);
  if (!lane) throw new Error(`no lane of that name: ${name}`);
  return lane;
};

interface Row extends Pick<Face, 'name' | 'model' | 'wire' | 'opening' | 'ending'> {
  readonly route: routes.PostRoute;
  readonly members: object;
  readonly lane: Lane;
}

const toFace = ({ name, model, wire, opening, ending, route, members, lane }: Row): Face => ({
  ...{ name, model, wire, opening, ending, shape: lane.shape },
  atCacheRates: route === routes.messages,
  request: (apiKey, prompt, headers = []) =>
    toBytes({
      method: 'POST',
      target: route.target.replace(route.model, model),
      headers: [...route.headers(apiKey), ...headers],
      body: JSON.stringify(route.body(prompt, members)),
    }),
  read: async (body) => {
    if (!lane.read) throw new Error(`${lane.name} does not stream`);
    return lane.read(new Response(body));
  },
});

const chat = (name: string, model: string, wire: Wire, opening: number, more: object = {}): Row => ({
  ...{ name, model, wire, opening, ending: /\[DONE\]/, route: routes.chat },
  members: { model, max_tokens: CAP, stream: true, ...more },
  lane: laneNamed('chat with gpt-4.1-mini, streamed'),
});

/** Tools route a chat to the provider's responses API (CHAT-5). */
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }];

const google = (name: string, model: string, route: routes.PostRoute, ending: RegExp): Row => ({
  ...{ name, model, wire: 'generateContent', opening: 1, ending, route },
  members: { generationConfig: { maxOutputTokens: CAP } },
  lane: laneNamed(name),
});

/** Each path has its own model, because missing usage eventually disables a model (BILL-10). */
export const faces: readonly Face[] = [
  chat('chat', 'gpt-6-sol', 'chat', 1),
  chat('chat over messages', 'claude-haiku-4-5', 'messages', 3),
  chat('chat over generateContent', 'gemini-3.1-pro-preview', 'generateContent', 1),
  chat('chat over responses', 'gpt-6.2-sol', 'responses', 4, { tools }),
  {
    ...{ name: 'responses', model: 'gpt-5.5-pro', wire: 'responses', opening: 2 },
    ...{ ending: /response\.(?:completed|incomplete)/, route: routes.responses },
    ...{ members: { max_output_tokens: CAP, stream: true }, lane: laneNamed('responses, streamed') },
  } satisfies Row,
  {
    ...{ name: 'messages', model: 'claude-sonnet-5-5', wire: 'messages', opening: 2 },
    ...{ ending: /message_stop/, route: routes.messages },
    ...{ members: { model: 'claude-sonnet-5-5', max_tokens: CAP, stream: true } },
    lane: laneNamed('messages, streamed'),
  } satisfies Row,
  google('generateContent, as events', 'gemini-3.5-flash-lite', routes.streamAsEvents, /"finishReason"/),
  google('generateContent, as an array', 'gemini-4-hydrogen', routes.streamAsArray, /"finishReason"|\]\s*$/),
].map(toFace);
