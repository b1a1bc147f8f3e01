import { expect } from 'vitest';
import { environments, parseEnvironment } from '../../lib/environments.ts';
import { newApp, ofType, type Synthesized, synthesize } from './synthesize.ts';

/** The functions with API Gateway before them. */
export const withRestApi = (change: object = {}): Synthesized =>
  synthesize(
    'dev',
    newApp({ bundling: false }),
    parseEnvironment({ ...environments.dev, frontDoor: 'api-gateway', ...change }),
  ).api;

/** The properties of the one resource of a type. */
export const only = (type: string, from: Synthesized): Readonly<Record<string, unknown>> => {
  const [found, ...others] = ofType(from, type);
  expect(others, type).toEqual([]);
  if (!found) throw new Error(`no ${type}`);
  return found.Properties;
};
