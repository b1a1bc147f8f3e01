import { decodeTime, encodeTime } from 'ulid';
import { utcDay } from '../core/clock.ts';

const TIME_CHARACTERS = 10;

/** Ids of requests and of holds begin with the time of their request, so this is less than or equal to all of that millisecond's. */
export const firstIdAt = (ms: number): string => encodeTime(Math.max(0, ms), TIME_CHARACTERS);

/** Unix milliseconds. */
export const timeOfRequest = (requestId: string): number => decodeTime(requestId);

/** The UTC day a request came on, such as `2026-11-20`. */
export const dayOfRequest = (requestId: string): string => utcDay(timeOfRequest(requestId));
