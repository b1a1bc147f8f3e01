import { afterEach, describe, expect, test, vi } from 'vitest';
import { stepNames } from '../../../lambdas/checks/deployment-steps.ts';
import { environments, parseEnvironment } from '../../../lib/environments.ts';
import { hasDynamodb } from '../../support/dynamodb.ts';
import { openDeployedScene, SECRET, type StartFront } from './deployed-scene.ts';
import { startApiGateway, startCloudFront } from './local-fronts.ts';

const throughCloudFront: StartFront = ({ url, deps }) =>
  startCloudFront({
    functionUrl: url,
    originSecret: SECRET,
    readObject: async (key) => {
      const found = await deps.media.open(key.replace('media/', ''));
      if (!found) return undefined;
      return { bytes: Buffer.concat(await Array.fromAsync(found.bytes)), type: found.mediaType };
    },
  });
const throughApiGateway: StartFront = ({ deps }) => startApiGateway(deps);

describe.skipIf(!hasDynamodb)('check:deployed through a local front door', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  test.each([
    [
      'cloudfront',
      throughCloudFront,
      [],
      ['POST /v1/chat/completions ["inference"]', '[{"originIds":[{"originId":"bucket"}'],
    ],
    ['api-gateway', throughApiGateway, ['direct access'], ['POST /v1/chat/completions text', 'GET /app content']],
  ] as const)('OPS-13 every step passes behind %s', async (frontDoor, startFront, skipped, seen) => {
    const scene = await openDeployedScene(undefined, startFront, frontDoor);
    try {
      for (const [name, value] of Object.entries(scene.variables)) vi.stubEnv(name, value);
      vi.spyOn(environments, 'dev', 'get').mockReturnValue(
        parseEnvironment({ ...environments.staging, account: 'any', frontDoor }),
      );
      const { status, stdout } = await scene.check('dev --stream --json');
      const { steps } = JSON.parse(stdout) as { steps: { name: string; status: string; detail: string }[] };
      expect(steps.map((step) => [step.name, step.status, step.status === 'failed' ? step.detail : ''])).toEqual(
        stepNames.map((name) => [name, skipped.some((each) => each === name) ? 'skipped' : 'ok', '']),
      );
      expect(status).toBe(0);
      expect(steps.find(({ name }) => name === 'client IP')?.detail).toBe('the address of this machine');
      for (const part of seen) expect(scene.front?.seen.join('\n')).toContain(part);
    } finally {
      await scene.stop();
    }
  });
});
