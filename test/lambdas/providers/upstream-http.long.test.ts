import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startVendor } from './vendor-server.ts';

/** Opens files until none is left, then calls a provider by its IP address and by a name. */
const program = `
  import { openSync } from 'node:fs';
  import { createUpstreamHttp } from './lambdas/providers/upstream-http.ts';
  const [, url] = process.argv;
  const http = createUpstreamHttp();
  const { signal } = new AbortController();
  const call = (to) => http({ url: to, headers: {}, body: '{}', signal }).then(
    ({ status }) => ({ status }),
    ({ code, ignoredByCircuit, cause }) => ({ code, ignoredByCircuit, cause: cause.code }),
  );
  try {
    for (;;) openSync('/dev/null');
  } catch {}
  console.log(JSON.stringify([await call(url), await call(url.replace('127.0.0.1', 'name-without-address.invalid'))]));
  process.exit();
`;

test('FALL-1 a process without descriptors ignores its failed calls of a working provider', async () => {
  const vendor = await startVendor((_, response) => response.end('fine'));
  try {
    const node = [process.execPath, '--input-type=module', '--eval', program, vendor.url];
    const child = spawn('sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [byAddress, byName] = JSON.parse(await text(child.stdout));
    expect(byAddress).toEqual({ code: 'service_unavailable', ignoredByCircuit: true, cause: 'EMFILE' });
    expect(byName).toMatchObject({ code: 'service_unavailable', ignoredByCircuit: true });
    expect(vendor.requests).toEqual([]);
  } finally {
    await vendor.stop();
  }
});
