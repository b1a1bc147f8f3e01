import { type Script, withoutScript } from './scripted-calls.ts';

/**
 * Behavior of a simulated provider for one request. A test passes the object. A user writes markers into the last user
 * message of a prompt, one or several, where `n` is an integer:
 *
 * | marker | what happens |
 * |---|---|
 * | `[[delay n]]` | n milliseconds pass before the status line |
 * | `[[pause n]]` | n milliseconds between two stream events |
 * | `[[hang]]` | no status line |
 * | `[[stall n]]` | n stream events, then silence on an open socket |
 * | `[[reset]]` | the socket is destroyed before the status line |
 * | `[[cut n]]` | the socket is destroyed after n stream events; a plain response stops in the middle |
 * | `[[cut-after-usage]]` | the socket is destroyed between the usage and the proper end; a plain response lacks its last byte |
 * | `[[error-event n]]` | 200, then an error inside the stream after n events (default: 2) |
 * | `[[first-event-error]]` | 200, and the first event is an error |
 * | `[[status s]]`, `[[status s retry-after n]]` | the provider's error with that status |
 * | `[[status s code c]]` | the same with an error code, such as `cyber_policy`; only at OpenAI |
 * | `[[vendor-401]]` | the provider key is rejected |
 * | `[[vendor-quota]]`, `[[vendor-quota code]]` | the operator's account has no credit |
 * | `[[vendor-404]]` | the provider no longer has the model |
 * | `[[context-length]]` | an error says that the prompt is too long |
 * | `[[redirect]]` | 307 to another path of the simulator |
 * | `[[garbage]]` | 200 with a page of HTML |
 * | `[[content-filter]]`, `[[content-filter-after n]]` | ends blocked, before any content or after n pieces |
 * | `[[refusal]]` | the model declines, in the provider's field for refusals |
 * | `[[heartbeats]]` | an event without data precedes each event of a stream |
 * | `[[whole-input]]` | the arguments of calls come whole at the start of their block; only in Anthropic's streams |
 * | `[[commentary]]` | a message of phase `commentary` precedes the calls or the answer; only in the Responses API |
 * | `[[failed]]` | the response starts and then fails; only in the Responses API |
 * | `[[words n]]` | a response of n tokens, if the token limit allows it |
 * | `[[bytes n]]` | n bytes of text at full speed, counted as at most the token limit |
 * | `[[no-usage]]` | the response has no usage |
 * | `[[usage-alone]]` | the usage comes once, in its own last chunk; only in Google's streams |
 * | `[[bare-error]]` | an error in the stream is plain JSON instead of an event; only in Google's streams |
 * | `[[tokens n]]`, `[[reasoning n]]`, `[[cached n]]`, `[[cache-write n]]`, `[[usage-prompt n]]` | the usage reports n output, reasoning, cached, newly cached or input tokens, plausible or not |
 *
 * `[[call tool arguments]]` scripts tool calls. `arguments` is a JSON object: `[[call bash {"command":"ls"}]]`. Each
 * request gets the next call, and the request with all results gets text. A tool that the request lacks is not called,
 * so `[[call none {}]]` gets text immediately. Without a script the model calls the first tool.
 *
 * A video takes several requests. All markers above apply to its creation. These markers are kept in the provider's id
 * of the job and apply to later requests:
 *
 * | marker | what happens |
 * |---|---|
 * | `[[takes n]]` | the video takes n milliseconds (default: 4,000), the first quarter in a queue |
 * | `[[video-fails]]`, `[[video-blocked]]` | it fails: because of the provider; because its content is blocked |
 * | `[[video-stalls]]` | it runs forever |
 * | `[[video-vanishes]]` | after half its time polls return 404 |
 * | `[[video-unknown]]`, `[[video-unknown n]]` | an unknown status, forever or for the first n milliseconds |
 * | `[[video-poll-error n]]` | polls return 500 until n milliseconds after the creation |
 * | `[[video-bytes n]]` | the size of the file (default: 200,000) |
 * | `[[video-slow n]]` | the file arrives in pieces over n milliseconds |
 * | `[[video-broken]]` | the file stops in the middle, before its announced length |
 * | `[[video-no-mp4]]` | a page of HTML in place of the file |
 * | `[[video-missing]]` | the URL of the file returns 404 |
 *
 * `[[no-usage]]` and `[[tokens n]]` are also kept in the id.
 *
 * An image takes one request, or a job with polls; `[[takes n]]` applies to such a job, too (default: 1,000).
 *
 * | marker | what happens |
 * |---|---|
 * | `[[image-bytes n]]` | each file has at least n bytes |
 * | `[[image-empty]]`, `[[image-html]]` | each file is empty; is a page of HTML |
 * | `[[image-broken]]` | invalid base64, or a link whose file stops in the middle |
 * | `[[image-missing]]` | links return 404 |
 * | `[[image-fails n]]` | n of the requested images are not made (default: all) |
 * | `[[image-blocked]]` | the images are blocked after they were drawn |
 *
 * Events and pauses apply to streams and to the pieces of a file. `[[status]]` and similar markers apply to every
 * response. If the usage is in the very last event, `[[cut-after-usage]]` cuts after that event. Embeddings and
 * moderations have no messages: their markers are read from every input text, and markers about text have no effect.
 */
export type Scenario = {
  readonly delayMs?: number;
  readonly pauseMs?: number;
  readonly hang?: boolean;
  readonly stallAfter?: number;
  readonly reset?: boolean;
  readonly cutAfter?: number;
  readonly cutAfterUsage?: boolean;
  readonly errorAfter?: number;
  readonly refusal?: Refusal;
  readonly redirect?: boolean;
  readonly garbage?: boolean;
  readonly contentFilterAfter?: number;
  readonly modelRefuses?: boolean;
  readonly failed?: boolean;
  readonly heartbeats?: boolean;
  readonly wholeInput?: boolean;
  readonly commentary?: boolean;
  readonly words?: number;
  readonly textBytes?: number;
  readonly noUsage?: boolean;
  readonly claimedUsage?: ClaimedUsage;
  readonly video?: VideoScenario;
  readonly image?: ImageScenario;
  readonly script?: Script;
};

/** Behavior for the images of a request. */
export type ImageScenario = {
  readonly bytes?: number;
  readonly content?: 'empty' | 'html' | 'broken' | 'missing';
  /** Number of images that are not generated. */
  readonly failed?: number;
  readonly blocked?: boolean;
};

/** Behavior for a video. Milliseconds count from its creation, except for those of its file. */
export type VideoScenario = {
  readonly takesMs?: number;
  readonly ending?: 'failed' | 'blocked' | 'stalled' | 'vanished';
  readonly unknownForMs?: number;
  readonly pollErrorForMs?: number;
  readonly fileBytes?: number;
  readonly fileMs?: number;
  readonly file?: 'broken' | 'html' | 'missing';
};

export type ClaimedUsage = {
  readonly input?: number;
  readonly cached?: number;
  readonly cacheWrite?: number;
  readonly output?: number;
  readonly reasoning?: number;
};

export type Refusal =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number; readonly code?: string }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'quota'; readonly code?: string }
  | { readonly kind: 'model-not-found' }
  | { readonly kind: 'context-length' };

const markerPattern = /\[\[([a-z0-9-]+)((?: [\w-]+)*)\]\]/g;

/** Reads the markers of a prompt. Other text in brackets belongs to the user. */
export function scenarioFromPrompt(prompt: string): Scenario {
  let scenario: Scenario = {};
  for (const [, name = '', rest = ''] of prompt.matchAll(markerPattern)) {
    const found = markers.get(name)?.(rest.trim().split(' '));
    if (found === undefined) continue;
    scenario = {
      ...scenario,
      ...found,
      claimedUsage: { ...scenario.claimedUsage, ...found.claimedUsage },
      video: { ...scenario.video, ...found.video },
      image: { ...scenario.image, ...found.image },
    };
  }
  return scenario;
}

/** Prompt as the model reads it. */
export function withoutMarkers(prompt: string): string {
  return withoutScript(prompt)
    .replace(markerPattern, (marker, name: string) => (markers.has(name) ? '' : marker))
    .trim();
}

type Marker = (words: readonly string[]) => Scenario;

const markers: ReadonlyMap<string, Marker> = new Map<string, Marker>([
  ['delay', ([n]) => ({ delayMs: count(n, 0) })],
  ['pause', ([n]) => ({ pauseMs: count(n, 0) })],
  ['hang', () => ({ hang: true })],
  ['stall', ([n]) => ({ stallAfter: count(n, 0) })],
  ['reset', () => ({ reset: true })],
  ['cut', ([n]) => ({ cutAfter: count(n, 0) })],
  ['cut-after-usage', () => ({ cutAfterUsage: true })],
  ['error-event', ([n]) => ({ errorAfter: count(n, 2) })],
  ['first-event-error', () => ({ errorAfter: 0 })],
  ['status', ([status, word, n]) => ({ refusal: statusRefusal(status, word, n) })],
  ['vendor-401', () => ({ refusal: { kind: 'unauthorized' } })],
  ['vendor-quota', ([code]) => ({ refusal: { kind: 'quota', code: code || undefined } })],
  ['vendor-404', () => ({ refusal: { kind: 'model-not-found' } })],
  ['context-length', () => ({ refusal: { kind: 'context-length' } })],
  ['redirect', () => ({ redirect: true })],
  ['garbage', () => ({ garbage: true })],
  ['content-filter', () => ({ contentFilterAfter: 0 })],
  ['content-filter-after', ([n]) => ({ contentFilterAfter: count(n, 1) })],
  ['refusal', () => ({ modelRefuses: true })],
  ['failed', () => ({ failed: true })],
  ['heartbeats', () => ({ heartbeats: true })],
  ['whole-input', () => ({ wholeInput: true })],
  ['commentary', () => ({ commentary: true })],
  ['words', ([n]) => ({ words: count(n, 1) })],
  ['bytes', ([n]) => ({ textBytes: count(n, 0) })],
  ['no-usage', () => ({ noUsage: true })],
  ['tokens', ([n]) => ({ claimedUsage: { output: count(n, 0) } })],
  ['reasoning', ([n]) => ({ claimedUsage: { reasoning: count(n, 0) } })],
  ['cached', ([n]) => ({ claimedUsage: { cached: count(n, 0) } })],
  ['cache-write', ([n]) => ({ claimedUsage: { cacheWrite: count(n, 0) } })],
  ['usage-prompt', ([n]) => ({ claimedUsage: { input: count(n, 0) } })],
  ['takes', ([n]) => ({ video: { takesMs: count(n, 4_000) } })],
  ['video-fails', () => ({ video: { ending: 'failed' } })],
  ['video-blocked', () => ({ video: { ending: 'blocked' } })],
  ['video-stalls', () => ({ video: { ending: 'stalled' } })],
  ['video-vanishes', () => ({ video: { ending: 'vanished' } })],
  ['video-unknown', ([n]) => ({ video: { unknownForMs: count(n, Number.MAX_SAFE_INTEGER) } })],
  ['video-poll-error', ([n]) => ({ video: { pollErrorForMs: count(n, 0) } })],
  ['video-bytes', ([n]) => ({ video: { fileBytes: count(n, 200_000) } })],
  ['video-slow', ([n]) => ({ video: { fileMs: count(n, 0) } })],
  ['video-broken', () => ({ video: { file: 'broken' } })],
  ['video-no-mp4', () => ({ video: { file: 'html' } })],
  ['video-missing', () => ({ video: { file: 'missing' } })],
  ['image-bytes', ([n]) => ({ image: { bytes: count(n, 0) } })],
  ['image-empty', () => ({ image: { content: 'empty' } })],
  ['image-html', () => ({ image: { content: 'html' } })],
  ['image-broken', () => ({ image: { content: 'broken' } })],
  ['image-missing', () => ({ image: { content: 'missing' } })],
  ['image-fails', ([n]) => ({ image: { failed: count(n, Number.MAX_SAFE_INTEGER) } })],
  ['image-blocked', () => ({ image: { blocked: true } })],
]);

function statusRefusal(status?: string, word?: string, value?: string): Refusal {
  const known = count(status, 500);
  return {
    kind: 'status',
    status: known >= 400 && known <= 599 ? known : 500,
    retryAfterSeconds: word === 'retry-after' ? count(value, 1) : undefined,
    code: word === 'code' ? value : undefined,
  };
}

function count(word: string | undefined, otherwise: number): number {
  return word !== undefined && /^\d{1,12}$/.test(word) ? Number(word) : otherwise;
}
