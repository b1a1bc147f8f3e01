import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { readTarget } from '../../../bin/check-deployed/check-target.ts';
import { openPlace } from '../../../bin/place.ts';
import { environments, parseEnvironment } from '../../../lib/environments.ts';
import { hasDynamodb } from '../../support/dynamodb.ts';
import { scriptedTerminal } from '../../support/scripted-terminal.ts';
import { openDeployedScene } from './deployed-scene.ts';

describe.skipIf(!hasDynamodb)('the target of a check', () => {
  let scene: Awaited<ReturnType<typeof openDeployedScene>>;
  beforeAll(async () => {
    scene = await openDeployedScene();
    for (const [name, value] of Object.entries(scene.variables)) vi.stubEnv(name, value);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    vi.unstubAllEnvs();
    await scene.stop();
  });

  const targetOf = async (change: object, send: typeof fetch = async () => new Response('')) => {
    vi.spyOn(environments, 'dev', 'get').mockReturnValue(
      parseEnvironment({ ...environments.staging, canary: false, ...change }),
    );
    const place = await openPlace({ env: 'dev' }, scriptedTerminal(scene.environment).terminal);
    try {
      return await readTarget(place, 'dev', { stream: true, send });
    } finally {
      await place.close();
    }
  };

  test('OPS-13 behind CloudFront every function URL must refuse', async () => {
    const target = await targetOf({});
    expect(target.directUrls).toEqual(['https://text.example', 'https://catalog.example']);
    expect([target.baseUrlOf('text'), target.baseUrlOf('bot'), target.skipped]).toEqual([
      'https://gateway.example',
      'https://gateway.example',
      {},
    ]);
  });

  test('OPS-13 behind API Gateway there is nothing to bypass', async () => {
    const target = await targetOf({ frontDoor: 'api-gateway' });
    expect(target.directUrls).toEqual([]);
    expect(target.skipped).toEqual({ 'direct access': 'with frontDoor api-gateway there is nothing to bypass' });
  });

  test('OPS-13 without a front door each step uses the URL of its function', async () => {
    const target = await targetOf({ frontDoor: 'none' });
    expect(target.directUrls).toEqual([]);
    expect([target.baseUrlOf('text'), target.baseUrlOf('text', true), target.baseUrlOf('catalog')]).toEqual([
      'https://text.example',
      'https://text.example',
      'https://catalog.example',
    ]);
    Object.assign(scene.api, { inferenceUrl: 'https://inference.example/' });
    const withHost = await targetOf({ frontDoor: 'none' });
    expect([withHost.baseUrlOf('text'), withHost.baseUrlOf('text', true)]).toEqual([
      'https://text.example',
      'https://inference.example',
    ]);
    const served = await targetOf({ frontDoor: 'none', inferenceHost: 'web-function', textShift: 'off' });
    expect(served.baseUrlOf('text')).toBe('https://inference.example');
    expect(() => target.baseUrlOf('bot')).toThrow('The stack gateway-dev-api has no output botUrl.');
  });

  test.each([
    ['198.51.100.4\n', '198.51.100.4'],
    ['<html>', undefined],
  ])('OPS-13 the own address in the response %j is %s', async (text, expected) => {
    expect(await (await targetOf({}, async () => new Response(text))).ownAddress()).toBe(expected);
  });

  test('OPS-13 without a response the own address is unknown', async () => {
    const target = await targetOf({}, () => Promise.reject(new TypeError('no network')));
    expect(await target.ownAddress()).toBeUndefined();
  });
});
