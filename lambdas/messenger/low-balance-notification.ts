import type { Language } from '../core/accounts/account-store.ts';
import type { Delivery, Notification, NotificationSender } from '../core/accounts/send-notifications.ts';
import { formatUsd } from '../core/money/usd.ts';
import { appButton } from './bot-context.ts';
import { type Html, html, lines } from './html.ts';
import { type BotAccess, createMessenger, MessengerError, openApi } from './messenger-api.ts';
import { textsFor } from './texts/texts.ts';

export interface NotificationSettings {
  readonly access: BotAccess;
  readonly publicUrl: string | undefined;
}

export const createNotificationSender = (settings: NotificationSettings): NotificationSender => {
  const messenger = createMessenger(openApi(settings.access));
  return async (notice) => {
    const button = appButton(settings, textsFor(notice.language));
    try {
      await messenger.send(notice.chatId, { text: toText(notice), buttons: button ? [button] : [] });
      return { kind: 'sent' };
    } catch (error) {
      if (!(error instanceof MessengerError)) throw error;
      return toDelivery(error);
    }
  };
};

/** Time to wait if the messenger specifies none. */
const RETRY_AFTER_SECONDS = 30;

const toDelivery = ({ kind, status, retryAfterSeconds, message }: MessengerError): Delivery => {
  if (kind === 'closed') return { kind };
  if (kind === 'refused') return { kind, reason: message };
  if (status === 429) return { kind: 'limited', retryAfterSeconds: retryAfterSeconds ?? RETRY_AFTER_SECONDS };
  return { kind: 'failed', reason: message };
};

type Wording = (balance: string, threshold: string) => Html;

const wordings: Readonly<Record<Language, Wording>> = {
  en: (balance, threshold) =>
    lines([
      html`<b>Your balance is low</b>: ${balance} USD`,
      html`I notify you when it falls to ${threshold} USD. How to add money: /topup`,
    ]),
  ru: (balance, threshold) =>
    lines([
      html`<b>Баланс подходит к концу</b>: ${balance} USD`,
      html`Я сообщаю, когда он опускается до ${threshold} USD. Как пополнить: /topup`,
    ]),
};

/** Uses both languages if the user's language is unknown. */
const toText = ({ language, balancePicos, thresholdPicos }: Notification): Html => {
  const [balance, threshold] = [formatUsd(balancePicos), formatUsd(thresholdPicos)];
  if (language) return wordings[language](balance, threshold);
  return lines([wordings.en(balance, threshold), html``, wordings.ru(balance, threshold)]);
};
