import { type Clock, inTime } from '../../core/clock.ts';
import {
  createEdgeFrontDoor,
  type FrontDoor,
  type FrontDoorTimeouts,
  type OriginSecrets,
  openFrontDoor,
} from '../../http/front-door.ts';
import type { Settings } from '../../settings.ts';
import type { Reporting } from './dependencies.ts';
import { keepRefreshing } from './refreshing-value.ts';
import { nameOf, type ReadSecret, readOriginSecrets, readSecret } from './secrets.ts';

/**
 * A regional REST API with response streaming times out after five minutes without a byte.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html
 */
const API_GATEWAY_SILENCE_MS = 300_000;

const REREAD_PAUSE_MS = 10_000;
/** Longest wait of a request with an unknown secret, in ms. */
const REREAD_WAIT_MS = 2_000;

interface FrontDoorDependencies {
  readonly clock: Clock;
  readonly notice: Reporting['notice'];
  readonly read?: ReadSecret;
}

/** Throws an Error if the front door is CloudFront and no origin secret is configured. */
export const frontDoorOf = async (settings: Settings, dependencies: FrontDoorDependencies): Promise<FrontDoor> => {
  const { FRONT_DOOR, EDGE_TIMEOUT_SECONDS, EDGE_JSON_KEEP_ALIVE } = settings;
  if (FRONT_DOOR === 'none') return openFrontDoor;
  if (FRONT_DOOR === 'api-gateway') return { ...openFrontDoor, frontDoorTimeouts: apiGatewayTimeouts };
  return createEdgeFrontDoor(await openOriginSecrets(settings, dependencies), {
    silenceMs: EDGE_TIMEOUT_SECONDS * 1_000,
    commitsStreams: true,
    commitsJson: EDGE_JSON_KEEP_ALIVE === 'true',
  });
};

const apiGatewayTimeouts: FrontDoorTimeouts = {
  silenceMs: API_GATEWAY_SILENCE_MS,
  commitsStreams: false,
  commitsJson: false,
};

/**
 * Opens the origin secrets and reads them again when a request carries an unknown secret, because CloudFront starts to
 * send a new secret some time after it was stored.
 */
const openOriginSecrets = async (
  settings: Settings,
  { clock, notice, read = readSecret }: FrontDoorDependencies,
): Promise<OriginSecrets> => {
  const kept = keepRefreshing(await readOriginSecrets(settings, read), {
    read: () => readOriginSecrets(settings, read),
    clock,
    pauseMs: REREAD_PAUSE_MS,
    onFailure: (error) => notice('origin_secret_unreadable', { reason: nameOf(error) }),
  });
  return { current: kept.current, refresh: () => inTime(clock, REREAD_WAIT_MS, kept.refresh()) };
};
