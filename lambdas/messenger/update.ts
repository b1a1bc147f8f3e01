import type { Update } from 'grammy/types';
import * as z from 'zod';
import { invalidRequest } from '../core/errors/gateway-error.ts';
import type { JsonObject } from '../core/json.ts';

const updateId = z.int().nonnegative();

/** Throws the 400: without its number an update cannot be told from another. */
export const readUpdateId = (json: JsonObject): number => {
  const parsed = updateId.safeParse(json.update_id);
  if (parsed.success) return parsed.data;
  throw invalidRequest('update_id', 'update_id: must be the whole number of the update.');
};

const id = z.int().positive();

/** Somebody has written to the bot in a chat of their own. Groups, channels and other bots are not spoken to. */
const messageSchema = z.object({
  message_id: z.int(),
  date: z.int(),
  chat: z.object({ id, type: z.literal('private') }),
  from: z.object({ id, is_bot: z.literal(false), language_code: z.string().optional() }),
  text: z.string().optional(),
});

export type PrivateMessage = z.output<typeof messageSchema>;

/** Undefined for whatever is not to be answered. */
export const readMessage = (json: JsonObject): PrivateMessage | undefined => messageSchema.safeParse(json.message).data;

/** Of all that an update has, what the library looks at. The command at the beginning is the only entity. */
export const toUpdate = (update_id: number, { message_id, date, chat, from, text }: PrivateMessage): Update => {
  const [command] = /^\/\w+(@\w+)?/.exec(text ?? '') ?? [];
  return {
    update_id,
    message: {
      message_id,
      date,
      chat: { ...chat, first_name: '' },
      from: { ...from, first_name: '' },
      ...(text === undefined ? {} : { text }),
      ...(command === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] }),
    },
  };
};
