import { expect, test } from 'vitest';
import { inputLanes, type Lane, textLanes } from './hostile-lanes.ts';
import { startSimulated } from './simulated-gateway.ts';

const { vendor, gateway } = await startSimulated();

/** Sends one request of a new account, and returns its charge record and its receipt. */
const sendOnce = async (request: Lane['send']) => {
  const { accountId, apiKey } = await gateway.issue();
  const response = await request({ ...gateway, apiKey });
  await response.text();
  const [record] = await gateway.recordsOf(accountId);
  const receipt = await fetch(`${gateway.url}/api/usage/${record?.requestId}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  return { status: response.status, record, receipt: await receipt.json() };
};

const [embeddings] = inputLanes;

test.for([...textLanes, ...(embeddings ? [embeddings] : [])])(
  'BILL-10 $name: zeros are missing usage, which the receipt says',
  async ({ send }) => {
    vendor.next({ claimedUsage: { input: 0, output: 0, reasoning: 0 } });
    const { status, record, receipt } = await sendOnce(send);
    expect([status, record?.outcome, record?.amountPicos]).toEqual([200, 'settled', 0n]);
    expect(receipt).toMatchObject({ outcome: 'charged', reason: 'usage_missing', cost_usd: '0' });
  },
);
