import { type Script, withoutScript } from './scripted-calls.ts';

/**
 * What a simulated vendor shall do with one request, beyond answering it well. A test hands over the object; anybody can
 * write it into the last user message of a prompt, several together, `n` being a whole number:
 *
 * | marker | what happens |
 * |---|---|
 * | `[[delay n]]` | n milliseconds pass before the status line |
 * | `[[pause n]]` | n milliseconds between two stream events |
 * | `[[hang]]` | no status line, ever |
 * | `[[stall n]]` | n stream events, then silence on an open socket |
 * | `[[reset]]` | the socket is destroyed before the status line |
 * | `[[cut n]]` | the socket is destroyed after n stream events; a plain answer breaks off in the middle |
 * | `[[cut-after-usage]]` | the socket is destroyed between the usage and the proper end; a plain answer lacks its last byte |
 * | `[[error-event n]]` | 200, then an error inside the stream after n events (2 unless told) |
 * | `[[first-event-error]]` | 200, and the very first event is an error |
 * | `[[status s]]`, `[[status s retry-after n]]` | the vendor's error with that status |
 * | `[[vendor-401]]` | our key is refused |
 * | `[[vendor-quota]]`, `[[vendor-quota code]]` | our own account is spent |
 * | `[[vendor-404]]` | the vendor no longer has the model |
 * | `[[context-length]]` | the prompt is said to be too long |
 * | `[[redirect]]` | 307 to another path of the simulator |
 * | `[[garbage]]` | 200 and a page of HTML |
 * | `[[content-filter]]`, `[[content-filter-after n]]` | ends blocked, before any content or after n pieces of it |
 * | `[[refusal]]` | the model itself declines, in the place the vendor has for that |
 * | `[[failed]]` | the response begins and then fails; the Responses API alone has that |
 * | `[[words n]]` | an answer of n tokens, if the cap allows |
 * | `[[bytes n]]` | n bytes of text, as fast as the socket takes them, counted as at most the cap's tokens |
 * | `[[no-usage]]` | the answer says nothing of its usage |
 * | `[[usage-alone]]` | the usage comes once, in a last chunk of its own; Google's streams alone |
 * | `[[bare-error]]` | with an error in the stream: it comes as bare JSON instead of an event; Google's streams alone |
 * | `[[tokens n]]`, `[[reasoning n]]`, `[[cached n]]`, `[[cache-write n]]`, `[[usage-prompt n]]` | the usage claims n output, reasoning, cached, newly cached or all input tokens, possible or not |
 *
 * `[[call tool arguments]]` scripts tool calls, `arguments` being a JSON object: `[[call bash {"command":"ls"}]]`. Each request gets
 * the next of them, and the request with all results gets text. A tool that the request does not offer is not called, so that
 * `[[call none {}]]` gets text at once. Without a script the model calls the first tool.
 *
 * A video is made by several requests. All of the above act on its creation; these are kept in the vendor's id of the job and act on
 * what is asked about it later:
 *
 * | marker | what happens |
 * |---|---|
 * | `[[takes n]]` | n milliseconds from the creation until it is finished (4,000 unless told), the first quarter of them in a queue |
 * | `[[video-fails]]`, `[[video-blocked]]` | it ends failed: for a reason of the vendor's own; because its pictures are objectionable |
 * | `[[video-stalls]]` | it runs for ever |
 * | `[[video-vanishes]]` | from half its time on the vendor has never heard of it: polls answer 404 |
 * | `[[video-unknown]]`, `[[video-unknown n]]` | a status that nobody knows, for ever or for the first n milliseconds |
 * | `[[video-poll-error n]]` | polls answer 500 until n milliseconds after the creation |
 * | `[[video-bytes n]]` | the size of the file (200,000 unless told) |
 * | `[[video-slow n]]` | the file comes in pieces over n milliseconds |
 * | `[[video-broken]]` | the file breaks off in the middle, short of the length that was announced |
 * | `[[video-no-mp4]]` | a page of HTML comes in place of the file |
 * | `[[video-missing]]` | the address of the file answers 404 |
 *
 * `[[no-usage]]` and `[[tokens n]]` are kept in the id as well.
 *
 * An image is made by one request, or by a job that is asked for; `[[takes n]]` holds for such a job, too (1,000 unless told).
 *
 * | marker | what happens |
 * |---|---|
 * | `[[image-bytes n]]` | each file has at least n bytes |
 * | `[[image-empty]]`, `[[image-html]]` | each file has no byte; is a page of HTML |
 * | `[[image-broken]]` | base64 that is none, or a link whose file breaks off in the middle |
 * | `[[image-missing]]` | links answer 404 |
 * | `[[image-fails n]]` | n of the images that were asked for are not made (all of them unless told) |
 * | `[[image-blocked]]` | the pictures are objectionable: refused, as the vendor does it once they have been drawn |
 *
 * Events and pauses concern streams, and the pieces of a file; `[[status]]` and its kin concern every answer. Where the usage comes in
 * the last event of all, `[[cut-after-usage]]` falls behind that. Embeddings and moderations have no message: their markers are looked
 * for in every text of the input, and those about the words of an answer mean nothing to them.
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
  readonly words?: number;
  readonly textBytes?: number;
  readonly noUsage?: boolean;
  readonly claimedUsage?: ClaimedUsage;
  readonly video?: VideoScenario;
  readonly image?: ImageScenario;
  readonly script?: Script;
};

/** What is to become of the images of a request. */
export type ImageScenario = {
  readonly bytes?: number;
  readonly content?: 'empty' | 'html' | 'broken' | 'missing';
  /** How many of them are not made. */
  readonly failed?: number;
  readonly blocked?: boolean;
};

/** What is to become of a video. Milliseconds are counted from its creation, but for those of its file. */
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
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'quota'; readonly code?: string }
  | { readonly kind: 'model-not-found' }
  | { readonly kind: 'context-length' };

const markerPattern = /\[\[([a-z0-9-]+)((?: [\w-]+)*)\]\]/g;

/** Text in brackets that is no marker is the user's own affair. */
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

/** The prompt as a model would see it. */
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

function statusRefusal(status?: string, word?: string, seconds?: string): Refusal {
  const known = count(status, 500);
  return {
    kind: 'status',
    status: known >= 400 && known <= 599 ? known : 500,
    retryAfterSeconds: word === 'retry-after' ? count(seconds, 1) : undefined,
  };
}

function count(word: string | undefined, otherwise: number): number {
  return word !== undefined && /^\d{1,12}$/.test(word) ? Number(word) : otherwise;
}
