import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { answerJson, readBody, readText } from './answers.ts';
import { PageRefusal } from './guard.ts';
import { INBOX_PATH, type InboxAnswer, type InboxState, inboxAnswers, type WebhookDelivery } from './ui/wire.ts';

/** Deliveries in memory. The oldest ones are removed. */
const KEPT_MAX = 50;
/** Deliveries that wait without a response. */
const WAITING_MAX = 20;
/** Longer than the gateway waits for a response (VID-7), in ms. */
const WAIT_MS = 15_000;

type Action = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

export interface WebhookInbox {
  /** Routes of the page, by path and method. */
  readonly actions: Readonly<Record<string, Readonly<Partial<Record<'GET' | 'POST', Action>>>>>;
  /** Closes the connections of deliveries that wait. */
  stop(): void;
}

export interface WebhookInboxOptions {
  readonly now: () => number;
  /** Called after each change, with its Unix ms. */
  readonly onChange: (atMs: number) => void;
}

const answerSchema = z.strictObject({ answer: z.enum(inboxAnswers) });

/** Receives webhooks for the page, and keeps the last ones in memory (HOOK-4). */
export function createWebhookInbox({ now, onChange }: WebhookInboxOptions): WebhookInbox {
  let answer: InboxAnswer = '200';
  let deliveries: readonly WebhookDelivery[] = [];
  let count = 0;
  const waiting = createWaiting();
  const receive: Action = async (request, response) => {
    const body = await readText(request);
    if (answer === 'timeout' && waiting.isFull()) throw new PageRefusal(503, 'Too many deliveries wait. Retry later.');
    const id = request.headers['webhook-id']?.toString();
    const at = now();
    count += 1;
    const attempt = attemptOf(deliveries, id);
    const delivery = { number: count, at, id, attempt, answer, headers: toHeaders(request), body };
    deliveries = [delivery, ...deliveries].slice(0, KEPT_MAX);
    onChange(at);
    if (answer === 'timeout') waiting.add(response);
    else answerJson(response, Number(answer), {});
  };
  return {
    actions: {
      [INBOX_PATH]: { POST: receive },
      '/local/webhooks': {
        GET: (_request, response) => answerJson(response, 200, { answer, deliveries } satisfies InboxState),
      },
      '/local/webhooks/answer': {
        POST: async (request, response) => {
          ({ answer } = await readBody(request, answerSchema));
          onChange(now());
          answerJson(response, 200, {});
        },
      },
      '/local/webhooks/clear': {
        POST: (_request, response) => {
          deliveries = [];
          onChange(now());
          answerJson(response, 200, {});
        },
      },
    },
    stop: waiting.stop,
  };
}

function createWaiting() {
  const open = new Set<ServerResponse>();
  return {
    isFull: (): boolean => open.size >= WAITING_MAX,
    add(response: ServerResponse): void {
      open.add(response);
      const timer = setTimeout(() => response.destroy(), WAIT_MS);
      response.once('close', () => {
        clearTimeout(timer);
        open.delete(response);
      });
    },
    stop(): void {
      for (const response of open) response.destroy();
    },
  };
}

function attemptOf(deliveries: readonly WebhookDelivery[], id: string | undefined): number {
  const last = id === undefined ? undefined : deliveries.find((delivery) => delivery.id === id);
  return (last?.attempt ?? 0) + 1;
}

function toHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString() ?? '']));
}
