import { appUrlOf, type BotPorts } from './bot-ports.ts';
import type { Button } from './messenger-api.ts';
import type { Texts } from './texts/texts.ts';

export const appButton = (ports: Pick<BotPorts, 'publicUrl' | 'access'>, texts: Texts): Button | undefined => {
  const app = appUrlOf(ports);
  return app === undefined ? undefined : { label: texts.openApp, app };
};
