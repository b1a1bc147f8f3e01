import { noticePartsFromEnvironment } from './wiring/notice-parts.ts';
import { createNoticesHandler } from './wiring/notices-handler.ts';

export const handler = createNoticesHandler(await noticePartsFromEnvironment(process.env));
