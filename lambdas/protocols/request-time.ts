import { decodeTime, encodeTime } from 'ulid';

const TIME_CHARACTERS = 10;

/** Ids of requests and of holds begin with the time of their request, so this is less than or equal to all of that millisecond's. */
export const firstIdAt = (ms: number): string => encodeTime(Math.max(0, ms), TIME_CHARACTERS);

/** Unix milliseconds. */
export const timeOfRequest = (requestId: string): number => decodeTime(requestId);
