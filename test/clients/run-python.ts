import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { startGateway } from './gateway.ts';
import { cacheFolder, installPins } from './install.ts';

// `node test/clients/run-python.ts <requirements> <script>`: installs the pins and runs a script of `py` against `npm
// start` with simulated providers, such as `litellm litellm_matrix.py` and `sdk validate_answers.py`.

const [requirements = '', script = '', ...args] = process.argv.slice(2);
const installed = await installPins({ kind: 'venv', requirements }, cacheFolder(process.env));
const gateway = await startGateway();
try {
  const key = await gateway.openAccount('python', '100000');
  const env = { PATH: process.env.PATH, GATEWAY_URL: gateway.url, GATEWAY_KEY: key, PYTHONDONTWRITEBYTECODE: '1' };
  const child = spawn(join(installed, 'venv/bin/python'), [join(import.meta.dirname, 'py', script), ...args], {
    env: { ...env, HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  process.exitCode = Number(code ?? 1);
} finally {
  await gateway.stop();
}
