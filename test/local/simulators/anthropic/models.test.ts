import Anthropic from '@anthropic-ai/sdk';
import { expect, test } from 'vitest';
import { anthropicWires } from '../../../../local/simulators/server.ts';
import { VendorRefusal } from '../../../../local/simulators/wire.ts';

/** Calls the wires directly, because the simulator's server also serves another provider under this path. */
const anthropic = new Anthropic({
  ...{ baseURL: 'http://vendor.invalid', apiKey: 'sk-ant-test', maxRetries: 0 },
  async fetch(input, init) {
    const { pathname: path, searchParams: query } = new URL(String(input));
    const headers = Object.fromEntries(new Headers(init?.headers));
    const wire = anthropicWires.find((candidate) => candidate.method === init?.method && candidate.path.test(path));
    const request = { path, query, headers, body: undefined, bytes: new Uint8Array() };
    try {
      const answer = wire?.answer(request, {});
      return new Response(answer?.kind === 'plain' ? String(answer.body) : '', {
        headers: { 'content-type': 'application/json' },
      });
    } catch (error) {
      if (!(error instanceof VendorRefusal)) throw error;
      const { status, body } = error;
      return Response.json(body, { status, headers: error.headers });
    }
  },
});

const idsOf = async (params: Anthropic.ModelListParams) => {
  const ids: string[] = [];
  for await (const { id } of anthropic.models.list(params)) ids.push(id);
  return ids;
};

test('the models are listed page by page, newest first', async () => {
  const page = await anthropic.models.list({ limit: 3 });
  expect(page.data).toMatchObject([
    { type: 'model', id: 'claude-fable-5-2', display_name: 'Claude Fable 5.2' },
    ...[{ type: 'model' }, { type: 'model' }],
  ]);
  const all = await idsOf({});
  expect([all.length, new Set(all).size]).toEqual([8, 8]);
  expect(await idsOf({ limit: 3 })).toEqual(all);
  const [, , , , fifth] = all;
  const before = await anthropic.models.list({ limit: 2, before_id: fifth });
  expect(before).toMatchObject({ has_more: true, first_id: all[2], last_id: all[3] });
  expect(before.data.map(({ id }) => id)).toEqual(all.slice(2, 4));
  await expect(anthropic.models.list({ limit: 0 })).rejects.toThrow(Anthropic.BadRequestError);
});
