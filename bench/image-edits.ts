import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pictureOf } from '../local/simulators/picture.ts';
import { startSimulator } from '../local/simulators/server.ts';
import { startGateway } from '../test/support/gateway.ts';

/**
 * Measures the host's memory during many concurrent edits of large images: `EDITS=100 EDIT_MB=4 ROUNDS=2 npx node
 * bench/image-edits.ts`. The gateway runs in its own process on SQLite and files, and the simulated provider in this
 * one.
 */
const edits = Number(process.env.EDITS ?? 100);
const bytes = Number(process.env.EDIT_MB ?? 4) * 1_000_000;
const rounds = Number(process.env.ROUNDS ?? 2);
const MiB = 1_024 * 1_024;

const statusOf = (pid: number, field: 'VmRSS' | 'VmHWM'): number => {
  const [, kilobytes] = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
};

const vendor = await startSimulator({ recordedMax: 0 });
const gateway = await startGateway({
  stores: 'engine',
  vendorUrl: vendor.url,
  environment: { LOCAL_BALANCE_USD: '1000' },
});
try {
  const picture = pictureOf({ width: 1_024, height: 1_024, about: randomBytes(4).toString('hex') }, { bytes });
  const edit = async (): Promise<number> => {
    const form = new FormData();
    form.append('model', 'gpt-image-2');
    form.append('prompt', 'make it blue [[delay 1000]]');
    form.append('quality', 'low');
    form.append('size', '1024x1024');
    form.append('image', new Blob([Uint8Array.from(picture)], { type: 'image/png' }), 'one.png');
    const headers = { authorization: `Bearer ${gateway.apiKey}` };
    const response = await fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form });
    await response.arrayBuffer();
    return response.status;
  };
  await edit();
  console.log(`idle ${statusOf(gateway.pid, 'VmRSS')} MiB`);
  for (let round = 1; round <= rounds; round += 1) {
    const statuses = Map.groupBy(await Promise.all(Array.from({ length: edits }, edit)), (status) => status);
    const counts = [...statuses].map(([status, all]) => `${all.length} x ${status}`).join(', ');
    const sent = Math.round((edits * bytes) / MiB);
    console.log(`${sent} MiB in ${edits} edits: ${counts}; peak ${statusOf(gateway.pid, 'VmHWM')} MiB`);
  }
  const { held, openHolds } = await gateway.untilSettled();
  console.log(`held ${held}, open holds ${openHolds}`);
} finally {
  await gateway.stop();
  await vendor.stop();
}
