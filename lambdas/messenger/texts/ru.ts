import { type Html, html, lines } from '../html.ts';
import { commandNames, createCounting, createDates, type RequestFacts, type SpendFacts, type Texts } from './words.ts';

const counted = createCounting('ru');
const dates = createDates('ru');

const requests = (count: number): string =>
  counted(count, { one: 'запрос', few: 'запроса', many: 'запросов', other: 'запроса' });
const runningRequests = (count: number): string =>
  counted(count, {
    one: 'выполняемый запрос',
    few: 'выполняемых запроса',
    many: 'выполняемых запросов',
    other: 'выполняемых запроса',
  });
const models = (count: number): string =>
  counted(count, { one: 'модель', few: 'модели', many: 'моделей', other: 'модели' });

const kinds = {
  text: 'Текст',
  image: 'Изображения',
  video: 'Видео',
  transcription: 'Распознавание речи',
  speech: 'Озвучивание',
  moderation: 'Модерация',
  embedding: 'Эмбеддинги',
} as const;

const units = {
  image: 'за изображение',
  clip: 'за ролик',
  minute: 'за минуту',
} as const;

const commands = {
  start: 'создать счёт и получить API-ключ',
  balance: 'баланс и удержания',
  usage: 'расходы и последние запросы',
  key: 'ваш ключ в скрытом виде',
  models: 'модели и цены',
  topup: 'пополнить счёт',
  help: 'все команды',
} as const;

const spend = (name: string, { cost, requests: count }: SpendFacts, isWhole: boolean): Html =>
  html`<b>${name}</b>: ${isWhole ? '' : 'более '}${cost} USD, ${requests(count)}`;

const request = ({ atMs, model, cost, isFailed }: RequestFacts): Html =>
  html`${dates.time(atMs)} · ${model ?? 'без модели'} · ${isFailed ? 'ошибка: ' : ''}${cost} USD`;

export const russian: Texts = {
  language: 'ru',
  commands,
  openApp: 'Открыть приложение',
  payNow: 'Пополнить',
  help: () => lines([html`<b>Команды</b>`, ...commandNames.map((name) => html`/${name} – ${commands[name]}`)]),
  startFirst: () => html`У вас ещё нет счёта. Создайте его командой /start.`,
  firstKey: ({ apiKey, replaced, baseUrl, example, guide }) =>
    lines([
      html`<b>Ваш API-ключ</b>. Он показывается только один раз. Сохраните его сейчас:`,
      html``,
      html`<code>${apiKey}</code>`,
      html``,
      ...(replaced === undefined
        ? []
        : [html`Он заменяет ключ <code>${replaced}</code>, который мог до вас не дойти и больше не работает.`, html``]),
      ...(baseUrl === undefined ? [] : [html`Базовый URL: <code>${baseUrl}</code>`]),
      ...(example === undefined ? [] : [html``, html`Попробуйте:`, html`<pre>${example}</pre>`, html``]),
      ...(guide === undefined ? [] : [html`<a href="${guide}">Настройка клиентов и SDK</a>`, html``]),
      html`Если пришло несколько таких сообщений, используйте ключ из последнего.`,
    ]),
  hadKey: (masked) =>
    lines([
      html`У вас уже есть счёт и ключ: <code>${masked}</code>`,
      html`Ключ был показан один раз, повторно показать его нельзя. Если вы его потеряли, замените его в приложении. Старый ключ сразу перестанет работать.`,
    ]),
  keyRevoked: () => html`Ваш ключ отозван и больше не работает. Новый можно выпустить в приложении.`,
  accountBlocked: () => html`Этот счёт заблокирован. Обратитесь к владельцу сервиса.`,
  balance: ({ balance, available, held, openHolds, isBlocked }) =>
    lines([
      html`<b>Баланс</b>: ${balance} USD`,
      html`Доступно: ${available} USD`,
      html`Удержано: ${held} USD за ${runningRequests(openHolds)}`,
      ...(isBlocked ? [html`Счёт заблокирован.`] : []),
    ]),
  usage: ({ today, week, isWhole, last }) =>
    lines([
      spend('Сегодня', today, isWhole),
      spend('За 7 дней', week, isWhole),
      html``,
      ...(last.length === 0 ? [html`Запросов ещё не было.`] : [html`<b>Последние запросы</b>`]),
      ...last.map(request),
      html``,
      html`Дни и время указаны по UTC.`,
    ]),
  key: ({ masked, issuedAtMs, isRevoked }) =>
    lines([
      html`<b>Ваш ключ</b>: <code>${masked}</code>`,
      html`Выпущен ${dates.day(issuedAtMs)}`,
      isRevoked
        ? html`Он отозван и больше не работает. Новый можно выпустить в приложении.`
        : html`Показать его ещё раз нельзя. Если вы его потеряли, замените его в приложении.`,
    ]),
  modelsHeading: (count) => html`<b>${models(count)}</b>, цены в USD`,
  kindHeading: (kind, count) => html`<b>${kinds[kind]}</b> (${count})`,
  price: (amounts, isLeast) => {
    if (amounts.every((amount) => amount === '0')) return 'бесплатно';
    return `${isLeast ? 'от ' : ''}${amounts.join(' / ')} за 1 млн токенов`;
  },
  priceRange: (least, most, unit) => `${least === most ? least : `от ${least} до ${most}`} ${units[unit]}`,
  andMore: (count) => `и ещё ${count}`,
  modelsEnd: () => html`Две цены — за ввод и за вывод. Все модели и цены есть в приложении.`,
  topUpLink: () => html`Пополнить счёт:`,
  topUpUnknown: (accountId) =>
    lines([html`Счёт пополняет владелец сервиса. Сообщите ему номер вашего счёта:`, html`<code>${accountId}</code>`]),
};
