/**
 * How a program of ours ends: SIGINT stops it within 5 s, SIGTERM lets it drain for at most 30 s, a second signal
 * cuts the drain short. The same signal twice within a second is one: terminals and launchers both pass it on.
 * SIGHUP reads files again, SIGUSR2 replaces a gateway's workers.
 */
import process from 'node:process';
import { messageOf, type Log } from '#base';

export const STOP_MS = 5_000;
export const DRAIN_MS = 30_000;
const SAME_SIGNAL_MS = 1_000;

/** Without it this signal would end the process. */
export function followSignal(signal: 'SIGHUP' | 'SIGUSR2', act: () => void): void {
  process.on(signal, act);
}

/** Resolves to the exit status once the program was told to end and has. */
export function runUntilStopped(close: (drainMs: number) => Promise<void>, log: Log): Promise<number> {
  return new Promise((resolve) => {
    let stopping: { readonly signal: string; readonly atMs: number } | undefined;
    let deadline: NodeJS.Timeout | undefined;
    const giveUpIn = (ms: number): void => {
      clearTimeout(deadline);
      deadline = setTimeout(() => {
        log.error({ afterMs: ms }, 'did not stop in time');
        resolve(1);
      }, ms);
      deadline.unref();
    };
    const onSignal = (signal: 'SIGINT' | 'SIGTERM'): void => {
      const atMs = performance.now();
      if (stopping !== undefined) {
        if (signal === stopping.signal && atMs - stopping.atMs < SAME_SIGNAL_MS) return;
        log.warn({ signal }, 'told again: stopping at once');
        giveUpIn(STOP_MS - 500);
        void close(0);
        return;
      }
      stopping = { signal, atMs };
      const drainMs = signal === 'SIGTERM' ? DRAIN_MS : 0;
      log.info({ signal, drainMs }, 'stopping');
      giveUpIn(drainMs + STOP_MS - 500);
      close(drainMs).then(
        () => resolve(0),
        (error: unknown) => {
          log.error({ err: messageOf(error) }, 'did not stop cleanly');
          resolve(1);
        },
      );
    };
    process.on('SIGINT', () => onSignal('SIGINT'));
    process.on('SIGTERM', () => onSignal('SIGTERM'));
  });
}
