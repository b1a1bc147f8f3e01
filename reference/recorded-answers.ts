import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonValue, parseJson } from '../lambdas/core/json.ts';
import type { RouteName } from '../lambdas/routes.ts';

/** Folder of responses that a test received for the curl samples, with ids and times replaced. */
export const recordedFolder = join(import.meta.dirname, 'recorded');

/** File of a recorded response. */
export const recordedFile = (name: RouteName, status: string, mediaType: string): string =>
  join(recordedFolder, `${name}.${status}.${mediaType.replaceAll(/\W+/g, '-')}.json`);

/** Returns the recorded response of a route: a JSON value, or the text of a stream. Undefined without a record. */
export const recordedAnswer = (name: RouteName, status: string, mediaType: string): JsonValue | undefined => {
  const file = recordedFile(name, status, mediaType);
  return existsSync(file) ? parseJson(readFileSync(file, 'utf8')) : undefined;
};
