import type { GatewayError } from '../../core/errors/gateway-error.ts';
import type { Ending } from '../../core/text/text-wire.ts';
import { toErrorBody } from '../../http/render-error.ts';
import type { StreamContext, StreamFace } from '../text-face.ts';

export const foreign = (): Error => new Error('an answer of another protocol on generateContent');

const toErrorElement = (error: GatewayError, requestId: string): string =>
  JSON.stringify(toErrorBody(error, 'generate_content', requestId));

type Context = Pick<StreamContext, 'write' | 'requestId'>;

const lastOf = (ending: Ending): readonly string[] => {
  if (ending.kind !== 'native') throw foreign();
  return ending.events;
};

const refuseDeltas = (): never => {
  throw foreign();
};

const asEvents = (elements: readonly string[]): string => elements.map((element) => `data: ${element}\n\n`).join('');

/** With `?alt=sse`: nothing but the end of the stream says that it is over. */
export const eventStream = ({ write, requestId }: Context): StreamFace => ({
  native: (events) => write(asEvents(events)),
  neutral: refuseDeltas,
  finish: (ending) => write(asEvents(lastOf(ending))),
  fail: (error) => write(asEvents([toErrorElement(error, requestId)])),
});

/**
 * Without it: one JSON array. Only a good answer closes it. After an error it stays open, so that whoever parses the whole of it
 * fails, and whoever reads the elements one by one finds the error as the last.
 */
export const arrayStream = ({ write, requestId }: Context): StreamFace => {
  let separator = '[';
  const asElements = (elements: readonly string[]): string =>
    elements
      .map((element) => {
        const text = `${separator}${element}\n`;
        separator = ',\r\n';
        return text;
      })
      .join('');
  return {
    native: (events) => write(asElements(events)),
    neutral: refuseDeltas,
    finish: (ending) => write(`${asElements(lastOf(ending))}${separator === '[' ? '[' : ''}]`),
    fail: (error) => write(asElements([toErrorElement(error, requestId)])),
  };
};
