import { createHandler } from '../../http/handler.ts';
import { createGetMedia } from '../../protocols/media/handler.ts';
import { createGetDocument, createGetPage, createGetPageFile } from '../../protocols/pages/handlers.ts';
import { createGetVideoContent } from '../../protocols/videos/content.ts';
import type { FunctionDependencies } from './dependencies.ts';
import { toHttpDependencies } from './http.ts';
import { toReadDependencies } from './videos.ts';

export const createContentHandler = (deps: FunctionDependencies) => {
  const relay = { ...toReadDependencies(deps), finished: deps.reporting.finished };
  const pages = { ...relay, pages: deps.pages };
  return createHandler(toHttpDependencies(deps), {
    getVideoContent: createGetVideoContent(relay),
    getMedia: createGetMedia({ ...relay, media: deps.media }),
    getApp: createGetPage(pages, 'app'),
    getAppFile: createGetPageFile(pages, 'app'),
    getReference: createGetPage(pages, 'api-reference'),
    getClientGuide: createGetPage(pages, 'api-reference', 'clients.html', 'guides'),
    getReferenceRoute: createGetDocument(pages, 'api-reference', 'routes'),
    getGuide: createGetDocument(pages, 'api-reference', 'guides'),
    getLlmsText: createGetPage(pages, 'api-reference', 'llms.txt'),
    getReferenceFile: createGetPageFile(pages, 'api-reference'),
  });
};
