import { createNoticesHandler, noticePartsFromEnvironment } from './wiring/notices-handler.ts';

export const handler = createNoticesHandler(await noticePartsFromEnvironment(process.env));
