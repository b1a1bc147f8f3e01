import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkAccounts } from '../../../lambdas/core/accounts/check-account.ts';
import { hasDynamodb } from '../../support/dynamodb.ts';
import { MACHINE, openDeployedScene, SECRET } from './deployed-scene.ts';

const program = join(import.meta.dirname, '../../../bin/check-deployed.ts');

describe.skipIf(!hasDynamodb)('the process of check:deployed', () => {
  let scene: Awaited<ReturnType<typeof openDeployedScene>>;
  let edge: Server;
  /** Called for each GET /health. The response waits for it. */
  let onHealth: () => Promise<void> = async () => undefined;
  beforeAll(async () => {
    edge = createServer(async (request, response) => {
      if (request.url === '/health') await onHealth();
      const { method = 'GET', headers, url } = request;
      const body = method === 'POST' ? await buffer(request) : null;
      const passed = new Headers({ 'x-client-ip': MACHINE, 'x-origin-secret': SECRET });
      for (const name of ['authorization', 'content-type', 'x-service-dry-run']) {
        const value = headers[name];
        if (typeof value === 'string') passed.set(name, value);
      }
      const answer = await fetch(`${scene.gateway.url}${url}`, { method, headers: passed, body });
      const bytes = Buffer.from(await answer.arrayBuffer());
      const kept = [...answer.headers].filter(([name]) => /^(content-type|x-service-.*)$/.test(name));
      response.writeHead(answer.status, Object.fromEntries(kept)).end(bytes);
    });
    edge.listen(0, '127.0.0.1');
    await once(edge, 'listening');
    const address = edge.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    scene = await openDeployedScene(`http://127.0.0.1:${port}`);
    for (const name of ['catalogUrl', 'textUrl'] as const) scene.api[name] = `${scene.gateway.url}/`;
  });
  afterAll(async () => {
    edge.closeAllConnections();
    edge.close();
    await scene.stop();
  });

  const run = async (onStart: (child: ChildProcess) => void = () => undefined) => {
    const child = spawn(process.execPath, [program, 'dev'], {
      env: {
        ...scene.environment,
        ...scene.variables,
        AWS_REGION: 'us-east-1',
        AWS_EC2_METADATA_DISABLED: 'true',
        // Everything beyond this machine fails.
        ...{ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(child, 'close');
    onStart(child);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await closed;
    return { stdout, stderr, code: child.exitCode, signal: child.signalCode };
  };

  /** Sends a signal while the check waits for its first response. */
  const interrupted = (signal: NodeJS.Signals) =>
    run((child) => {
      onHealth = async () => {
        onHealth = async () => undefined;
        child.kill(signal);
        await once(child, 'exit');
      };
    });
  const key = () => scene.stores.keys.currentKey(checkAccounts.deployment);

  test('OPS-13 the process exits with 0 after a check without a failure', async () => {
    const { stdout, stderr, code } = await run();
    expect([stdout.match(/^failed.*/m)?.[0], code]).toEqual([undefined, 0]);
    expect(stdout).toContain('not the forged address; the own address is not known');
    expect(stderr).not.toContain('    at ');
    expect((await key())?.isRevoked).toBe(true);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'OPS-13 %s ends the process after it has revoked its key',
    async (signal) => {
      const { stderr, code } = await interrupted(signal);
      expect([code, stderr]).toEqual([1, expect.stringContaining('Interrupted. The API key of the check is revoked.')]);
      expect((await key())?.isRevoked).toBe(true);
    },
  );

  test('OPS-13 the check after a killed one revokes the key that it left', async () => {
    expect((await interrupted('SIGKILL')).signal).toBe('SIGKILL');
    const left = await key();
    expect(left?.isRevoked).toBe(false);
    expect((await run()).code).toBe(0);
    expect((await scene.stores.keys.read(left?.hash ?? ''))?.status).toBe('revoked');
    expect((await key())?.isRevoked).toBe(true);
  });
});
