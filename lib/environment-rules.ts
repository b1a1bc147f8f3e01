import { EDGE_REGION } from './edge/edge-region.ts';
import type { Environment } from './environment-schema.ts';
import { functionsOf, hostOf } from './functions-of.ts';
import { tightTimesIn } from './video/last-steps.ts';

interface Contradiction {
  readonly path: readonly string[];
  readonly message: string;
}

type Rule = (environment: Environment) => Contradiction | undefined;

/**
 * What no field can tell by itself. Fields that only one front door reads are refused with another one where they say something
 * else than they do by default: somebody thinks that they count.
 */
export const contradictionsIn = (environment: Environment): readonly Contradiction[] =>
  rules.map((rule) => rule(environment)).filter((found) => found !== undefined);

const at = (path: string, message: string): Contradiction => ({ path: path.split('.'), message });

const rules: readonly Rule[] = [
  ({ domain, frontDoor }) =>
    domain && frontDoor === 'none' ? at('domain', 'there is no front door that could answer for it') : undefined,
  ({ domain }) =>
    domain && !domain.hostedZone && !domain.certificateArn
      ? at('domain', 'needs a hostedZone or a certificateArn')
      : undefined,
  ({ domain: { name, hostedZone } = { name: '' } }) =>
    hostedZone && name !== hostedZone.name && !name.endsWith(`.${hostedZone.name}`)
      ? at('domain.hostedZone.name', `${name} is not in it`)
      : undefined,
  ({ domain, frontDoor, region }) => {
    const needed = frontDoor === 'cloudfront' ? EDGE_REGION : region;
    const actual = domain?.certificateArn?.split(':')[3];
    return actual !== undefined && actual !== needed
      ? at('domain.certificateArn', `must be one of ${needed}, where ${frontDoor} looks for it`)
      : undefined;
  },
  ({ publicUrl, domain }) =>
    publicUrl !== undefined && domain && new URL(publicUrl).hostname !== domain.name
      ? at('publicUrl', `domain says ${domain.name}`)
      : undefined,
  ({ edgeTimeoutSeconds, frontDoor }) =>
    frontDoor !== 'cloudfront' && edgeTimeoutSeconds !== 120
      ? at('edgeTimeoutSeconds', 'is for frontDoor cloudfront')
      : undefined,
  ({ edgeJsonKeepAlive, frontDoor }) =>
    frontDoor !== 'cloudfront' && !edgeJsonKeepAlive
      ? at('edgeJsonKeepAlive', 'is for frontDoor cloudfront')
      : undefined,
  ({ firewallRequestsPerMinute, frontDoor }) =>
    frontDoor === 'none' && firewallRequestsPerMinute !== 2_400
      ? at('firewallRequestsPerMinute', 'a firewall needs a front door')
      : undefined,
  ({ inferenceHost, frontDoor }) =>
    frontDoor === 'api-gateway' && inferenceHost === 'web-function'
      ? at('inferenceHost', 'api-gateway cannot call a Web Function')
      : undefined,
  ({ firewallRequestsPerMinute, limits, frontDoor }) => {
    const allowed = 60 * limits.LIMIT_ADDRESS_PER_SECOND + limits.LIMIT_ADDRESS_BURST;
    return frontDoor !== 'none' && allowed > firewallRequestsPerMinute
      ? at('firewallRequestsPerMinute', `limits lets an address make ${allowed}, which would never pass`)
      : undefined;
  },
  ({ bot, frontDoor, publicUrl }) =>
    frontDoor === 'none' && publicUrl === undefined && (bot.startCreditUsd !== '0' || bot.topUpText !== undefined)
      ? at('bot', 'needs a publicUrl where frontDoor is none: its app and its webhook have no address in common')
      : undefined,
  (environment) => {
    const there: ReadonlySet<string> = new Set(
      functionsOf(environment).events.flatMap(({ name }) => (hostOf(environment, name) === name ? [name] : [])),
    );
    const { memoryMb, reservedConcurrency } = environment;
    const wrong = Object.entries({ memoryMb, reservedConcurrency }).flatMap(([field, said]) =>
      Object.keys(said).flatMap((name) => (there.has(name) ? [] : [`${field}.${name}`])),
    );
    return wrong[0] === undefined ? undefined : at(wrong[0], 'a Web Function is in its place, by inferenceHost');
  },
  ({ videos: { VIDEO_POLL_SECONDS, VIDEO_POLL_SECONDS_MAX } }) =>
    VIDEO_POLL_SECONDS_MAX < VIDEO_POLL_SECONDS
      ? at('videos.VIDEO_POLL_SECONDS_MAX', `must not be below VIDEO_POLL_SECONDS, which is ${VIDEO_POLL_SECONDS}`)
      : undefined,
  /** What a video could be charged after its hold has gone with, and what the state machine cannot be made with. */
  ({ videos }) => {
    const problem = tightTimesIn(videos);
    return problem === undefined ? undefined : at('videos', problem);
  },
];
