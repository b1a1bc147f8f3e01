import { type Html, html, lines } from '../html.ts';
import { commandNames, createCounting, createDates, type RequestFacts, type SpendFacts, type Texts } from './words.ts';

const counted = createCounting('en');
const dates = createDates('en-GB');

const requests = (count: number): string => counted(count, { one: 'request', other: 'requests' });
const models = (count: number): string => counted(count, { one: 'model', other: 'models' });

const kinds = {
  text: 'Text',
  image: 'Images',
  video: 'Video',
  transcription: 'Transcription',
  speech: 'Speech',
  moderation: 'Moderation',
  embedding: 'Embeddings',
} as const;

const units = {
  image: 'per image',
  clip: 'per clip',
  minute: 'per minute',
} as const;

const commands = {
  start: 'create an account and get an API key',
  balance: 'balance and held amount',
  usage: 'spending and latest requests',
  key: 'your key, masked',
  models: 'models and prices',
  topup: 'add money',
  help: 'all commands',
} as const;

const spend = (name: string, { cost, requests: count }: SpendFacts, isWhole: boolean): Html =>
  html`<b>${name}</b>: ${isWhole ? '' : 'more than '}${cost} USD, ${requests(count)}`;

const request = ({ atMs, model, cost, isFailed }: RequestFacts): Html =>
  html`${dates.time(atMs)} · ${model ?? 'no model'} · ${isFailed ? 'failed: ' : ''}${cost} USD`;

export const english: Texts = {
  language: 'en',
  commands,
  openApp: 'Open the app',
  payNow: 'Top up',
  help: () => lines([html`<b>Commands</b>`, ...commandNames.map((name) => html`/${name} – ${commands[name]}`)]),
  startFirst: () => html`You have no account yet. Create one with /start.`,
  firstKey: ({ apiKey, replaced, baseUrl, example, guide }) =>
    lines([
      html`<b>Your API key</b>. It is shown only once. Save it now:`,
      html``,
      html`<code>${apiKey}</code>`,
      html``,
      ...(replaced === undefined
        ? []
        : [
            html`It replaces the key <code>${replaced}</code>, which may not have reached you and no longer works.`,
            html``,
          ]),
      ...(baseUrl === undefined ? [] : [html`Base URL: <code>${baseUrl}</code>`]),
      ...(example === undefined ? [] : [html``, html`Try it:`, html`<pre>${example}</pre>`, html``]),
      ...(guide === undefined ? [] : [html`<a href="${guide}">Set up clients and SDKs</a>`, html``]),
      html`If you receive this message more than once, use the key in the latest one.`,
    ]),
  hadKey: (masked) =>
    lines([
      html`You already have an account and an API key: <code>${masked}</code>`,
      html`The key was shown once and cannot be shown again. If you lost it, replace it in the app. The old key then stops working immediately.`,
    ]),
  keyRevoked: () => html`Your API key is revoked and no longer works. Issue a new one in the app.`,
  accountBlocked: () => html`This account is blocked. Contact the operator of this service.`,
  balance: ({ balance, available, held, openHolds, isBlocked }) =>
    lines([
      html`<b>Balance</b>: ${balance} USD`,
      html`Available: ${available} USD`,
      html`Held: ${held} USD for ${requests(openHolds)} in progress`,
      ...(isBlocked ? [html`The account is blocked.`] : []),
    ]),
  usage: ({ today, week, isWhole, last }) =>
    lines([
      spend('Today', today, isWhole),
      spend('Last 7 days', week, isWhole),
      html``,
      ...(last.length === 0 ? [html`No requests yet.`] : [html`<b>Last requests</b>`]),
      ...last.map(request),
      html``,
      html`Days and times are in UTC.`,
    ]),
  key: ({ masked, issuedAtMs, isRevoked }) =>
    lines([
      html`<b>Your API key</b>: <code>${masked}</code>`,
      html`Issued on ${dates.day(issuedAtMs)}.`,
      isRevoked
        ? html`It is revoked and no longer works. Issue a new one in the app.`
        : html`It cannot be shown again. If you lost it, replace it in the app.`,
    ]),
  modelsHeading: (count) => html`<b>${models(count)}</b>, prices in USD`,
  kindHeading: (kind, count) => html`<b>${kinds[kind]}</b> (${count})`,
  price: (amounts, isLeast) => {
    if (amounts.every((amount) => amount === '0')) return 'free';
    return `${isLeast ? 'from ' : ''}${amounts.join(' / ')} per 1M tokens`;
  },
  priceRange: (least, most, unit) => `${least}${least === most ? '' : ` to ${most}`} ${units[unit]}`,
  andMore: (count) => `and ${count} more`,
  modelsEnd: () => html`Two prices are for input and output. The app lists every model and price.`,
  topUpLink: () => html`Add money to your account:`,
  topUpUnknown: (accountId) =>
    lines([
      html`The operator of this service adds money. Contact the operator with your account id:`,
      html`<code>${accountId}</code>`,
    ]),
};
