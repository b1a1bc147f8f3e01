import { TOKEN_PICOS, VIDEO_COST, VIDEO_TOKENS } from './video-service-customer.ts';

/** What the vendor says to a creation, and what its client gets. */
export const refusals: readonly (readonly [marker: string, status: number, code: string])[] = [
  ['[[status 400]]', 400, 'invalid_request_error'],
  ['[[content-filter]]', 400, 'content_filter'],
  ['[[vendor-401]]', 503, 'service_unavailable'],
  ['[[vendor-quota]]', 503, 'service_unavailable'],
  ['[[vendor-404]]', 503, 'model_unavailable'],
  ['[[status 429 retry-after 7]]', 429, 'upstream_capacity'],
  ['[[status 500]]', 502, 'upstream_error'],
  ['[[status 503]]', 503, 'service_unavailable'],
  ['[[garbage]]', 502, 'upstream_error'],
  ['[[reset]]', 502, 'upstream_error'],
  ['[[hang]]', 504, 'upstream_timeout'],
];

/** What becomes of a video, why it is said to have failed, and in which words. */
export const failures: readonly (readonly [markers: string, code: string, words: RegExp])[] = [
  ['[[takes 100]] [[video-fails]]', 'upstream_error', /could not make/],
  ['[[takes 100]] [[video-blocked]]', 'content_filter', /safety filter/],
  ['[[takes 400]] [[video-vanishes]]', 'upstream_error', /lost this video/],
  ['[[takes 100]] [[video-stalls]]', 'upstream_timeout', /within the time/],
  ['[[takes 100]] [[video-unknown]]', 'upstream_timeout', /within the time/],
];

/** More than the hold, and still to be believed. */
const OVERAGE_TOKENS = VIDEO_TOKENS + 30_000;
/** The estimate, whose blocks are of 32 pixels, twice. */
const BOUND_TOKENS = 2 * ((1_280 * 736 * (24 * 4 + 1)) / 1_024);

/** What becomes of a video, its charge in pico-USD, and how that is flagged. */
export const successes: readonly (readonly [markers: string, picos: bigint, flags: object])[] = [
  ['[[takes 100]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-unknown 2500]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-poll-error 2500]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-bytes 9000000]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[video-slow 1500]]', VIDEO_COST, { overage: false, implausible: false }],
  ['[[takes 100]] [[no-usage]]', 0n, { overage: false, implausible: false }],
  ['[[takes 100]] [[tokens 0]]', 0n, { overage: false, implausible: false }],
  [
    `[[takes 100]] [[tokens ${OVERAGE_TOKENS}]]`,
    BigInt(OVERAGE_TOKENS) * TOKEN_PICOS,
    { overage: true, implausible: false },
  ],
  ['[[takes 100]] [[tokens 999999999]]', BigInt(BOUND_TOKENS) * TOKEN_PICOS, { overage: true, implausible: true }],
];
