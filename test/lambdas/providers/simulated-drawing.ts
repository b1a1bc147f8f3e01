import { afterAll, beforeAll } from 'vitest';
import type { ImageCall, ImageWire } from '../../../lambdas/core/images/image-wire.ts';
import { createUpstreamHttp } from '../../../lambdas/providers/upstream-http.ts';
import type { WireOptions } from '../../../lambdas/providers/vendor-call.ts';
import { startSimulator } from '../../../lib/local/upstreams/server.ts';
import { toShippedCall } from './drawing-world.ts';

interface Simulated {
  readonly create: (options: WireOptions) => ImageWire;
  readonly modelId: string;
  /** Behind the simulator's address. */
  readonly path: string;
}

/** Draws at a simulated vendor and reads what came, over true connections. */
export const simulatedDrawing = ({ create, modelId, path }: Simulated) => {
  const started = Promise.withResolvers<Awaited<ReturnType<typeof startSimulator>>>();
  beforeAll(async () => started.resolve(await startSimulator()));
  afterAll(async () => (await started.promise).stop());
  return async (prompt: string, changes: Partial<ImageCall> = {}) => {
    const { url } = await started.promise;
    const wire = create({
      http: createUpstreamHttp(),
      access: () => ({ baseUrl: `${url}${path}`, key: 'vendor-key' }),
      notice: () => undefined,
      now: () => 0,
      random: () => 0,
    });
    const call = toShippedCall(modelId, AbortSignal.timeout(30_000), { prompt, ...changes });
    const drawing = await wire.draw(call);
    return { drawing, files: await Promise.all(drawing.images.map(({ read }) => read())) };
  };
};
