/** Sends a request with an idempotency key again while no answer comes: the server does it at most once. */
import { setTimeout } from 'node:timers/promises';
import { BackOff, FrontdoorError, type ErrorKind } from '#base';

/** After the first try. */
const MOST_REPEATS = 3;
/** From the first try; no repeat begins later. */
const REPEAT_WITHIN_MS = 30_000;
/** 408, 502, 503, 504, and a broken or silent connection: nothing says whether it was done. */
const WITHOUT_ANSWER: ReadonlySet<ErrorKind> = new Set([
  'requestTimeout',
  'badGateway',
  'unavailable',
  'timeout',
]);

/** Throws what `send` throws; after the last try, the message shows the key to go on with. */
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
        const advice = `it may have been done: repeat the command with --idempotency-key ${idempotencyKey}`;
        throw new FrontdoorError(error.kind, error.code, `${error.message}; ${advice}`, { cause: error });
      }
    }
    await pause(backOff.next());
  }
}
