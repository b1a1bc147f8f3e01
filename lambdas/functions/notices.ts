import { createNoticesHandler, noticesDependenciesFromEnvironment } from './wiring/notices-handler.ts';

export const handler = createNoticesHandler(await noticesDependenciesFromEnvironment(process.env));
