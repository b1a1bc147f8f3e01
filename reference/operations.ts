import type { RouteName } from '../lambdas/routes.ts';
import type { Operation } from './operation.ts';
import { accountOperations } from './operations/account.ts';
import { appOperations } from './operations/app.ts';
import { audioOperations } from './operations/audio.ts';
import { chatOperations } from './operations/chat.ts';
import { generateContentOperations } from './operations/generate-content.ts';
import { imageOperations } from './operations/images.ts';
import { inputOperations } from './operations/inputs.ts';
import { integrationOperations } from './operations/integration.ts';
import { keyOperations } from './operations/keys.ts';
import { messagesOperations } from './operations/messages.ts';
import { modelOperations } from './operations/models.ts';
import { pageOperations } from './operations/pages.ts';
import { responsesOperations } from './operations/responses.ts';
import { videoOperations } from './operations/videos.ts';
import { webhookOperations } from './operations/webhooks.ts';

/** Descriptions of all routes. A missing description is a type error. */
export const operations: Record<RouteName, Operation> = {
  ...chatOperations,
  ...responsesOperations,
  ...messagesOperations,
  ...generateContentOperations,
  ...inputOperations,
  ...imageOperations,
  ...audioOperations,
  ...videoOperations,
  ...webhookOperations,
  ...modelOperations,
  ...accountOperations,
  ...keyOperations,
  ...appOperations,
  ...integrationOperations,
  ...pageOperations,
};
