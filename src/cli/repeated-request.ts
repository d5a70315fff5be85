/** Repeats a request with an idempotency key while no response comes. The server carries it out at most once. */
import { setTimeout } from 'node:timers/promises';
import { BackOff, FrontdoorError, type ErrorKind } from '#base';

/** Repeats after the first try. */
const MOST_REPEATS = 3;
/** No repeat begins later than this after the first try. */
const REPEAT_WITHIN_MS = 30_000;
/** 408, 502, 503, 504, and a broken or silent connection leave open whether the request was carried out. */
const WITHOUT_ANSWER: ReadonlySet<ErrorKind> = new Set([
  'requestTimeout',
  'badGateway',
  'unavailable',
  'timeout',
]);

/** Throws the error of `send`. After the last try, the message includes the key for repeating the command. */
export async function repeatedRequest<T>(
  idempotencyKey: string,
  send: () => Promise<T>,
  pause: (ms: number) => Promise<unknown> = setTimeout,
): Promise<T> {
  const backOff = new BackOff({ minMs: 300, maxMs: 3_000, factor: 3 });
  const beganMs = performance.now();
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof FrontdoorError) || !WITHOUT_ANSWER.has(error.kind)) throw error;
      if (backOff.attempts >= MOST_REPEATS || performance.now() - beganMs > REPEAT_WITHIN_MS) {
        const advice = `the change may have been made: repeat the command with --idempotency-key ${idempotencyKey}`;
        throw new FrontdoorError(error.kind, error.code, `${error.message}; ${advice}`, { cause: error });
      }
    }
    await pause(backOff.next());
  }
}
