import { createHandler } from '../../http/handler.ts';
import { createGetVideoContent } from '../../protocols/videos/content.ts';
import { toHttpPorts } from './http-ports.ts';
import type { Parts } from './parts.ts';
import { toReadPorts } from './video-ports.ts';

export const createContentHandler = (parts: Parts) =>
  createHandler(toHttpPorts(parts), {
    getVideoContent: createGetVideoContent({ ...toReadPorts(parts), finished: parts.reporting.finished }),
  });
