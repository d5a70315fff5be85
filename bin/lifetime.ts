/**
 * How a program of Frontdoor ends: SIGINT stops it within 5 s, SIGTERM lets it drain for at most 30 s, a second signal
 * cuts the drain short. The same signal twice within a second is one: terminals and launchers both pass it on.
 * SIGHUP reads files again and never ends a program; SIGUSR2 replaces a gateway's workers. A program whose launcher
 * goes, however it goes, stops as by SIGINT; one that still starts ends at once.
 */
import { Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, type Log } from '#base';
import { uncaughtListener, watchDescriptors } from '#net';
import { launcherPipe } from './launcher-pipe.ts';
import { serviceManager } from './service-manager.ts';

export const STOP_MS = 5_000;
export const DRAIN_MS = 30_000;
const SAME_SIGNAL_MS = 1_000;
const NEVER_STARTED_STATUS = 1;

const launcher = { onGone: (): void => process.exit(NEVER_STARTED_STATUS) };
followLauncher();

// Without a listener the signal ends the process; it may come while a program still starts.
process.on('SIGHUP', () => {});
// After a SIGHUP the terminal that the outputs wrote to may be gone.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** An exception ends the one thing that it happened in, and not the program (ADR 0060). */
export function containUncaught(log: Log): void {
  process.on('uncaughtException', uncaughtListener(log));
}

/** Handles a signal that would otherwise end the process. */
export function followSignal(signal: 'SIGUSR2', act: () => void): void {
  process.on(signal, act);
}

/** A program can announce its stop before it drains, so that load balancers have time to notice. */
export interface StopNotice {
  /** Called once, at the first signal. */
  readonly announce: () => void;
  /** Time after SIGTERM in which the program serves as before. */
  readonly delayMs: number;
}

/** Resolves to the exit status once a signal has ended the program. SIGHUP calls `reload`. */
export function runUntilStopped(
  close: (drainMs: number) => Promise<void>,
  log: Log,
  reload: () => Promise<void> | void,
  notice?: StopNotice,
): Promise<number> {
  serviceManager.logTo(log);
  followReload(reload, log);
  watchDescriptors({ log });
  return new Promise((resolve) => {
    let isWaiting = false;
    let stopping: { readonly signal: string; readonly atMs: number } | undefined;
    let deadline: NodeJS.Timeout | undefined;
    const cut = new AbortController();
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
        log.warn({ signal }, 'second signal: stopping at once');
        giveUpIn(STOP_MS - 500);
        if (isWaiting) cut.abort();
        else void close(0);
        return;
      }
      stopping = { signal, atMs };
      const drainMs = signal === 'SIGTERM' ? DRAIN_MS : 0;
      const delayMs = signal === 'SIGTERM' ? (notice?.delayMs ?? 0) : 0;
      log.info({ signal, delayMs, drainMs }, 'stopping');
      serviceManager.stopping();
      notice?.announce();
      giveUpIn(delayMs + drainMs + STOP_MS - 500);
      isWaiting = delayMs > 0;
      const waited = isWaiting
        ? delay(delayMs, undefined, { signal: cut.signal }).catch(() => {})
        : Promise.resolve();
      const closed = waited.then(() => {
        isWaiting = false;
        return close(cut.signal.aborted ? 0 : drainMs);
      });
      closed.then(
        () => resolve(0),
        (error: unknown) => {
          log.error({ err: messageOf(error) }, 'did not stop cleanly');
          resolve(1);
        },
      );
    };
    process.on('SIGINT', () => onSignal('SIGINT'));
    process.on('SIGTERM', () => onSignal('SIGTERM'));
    launcher.onGone = () => {
      if (stopping !== undefined) return;
      log.warn({}, 'the launcher is gone');
      onSignal('SIGINT');
    };
  });
}

/** Reads one after the other: a signal that comes during a reading causes one more. */
function followReload(reload: () => Promise<void> | void, log: Log): void {
  let isReading = false;
  let isAskedAgain = false;
  const read = async (): Promise<void> => {
    isReading = true;
    serviceManager.reloading();
    do {
      isAskedAgain = false;
      log.info({}, 'reading files again');
      try {
        await reload();
      } catch (error) {
        log.error({ err: messageOf(error) }, 'files could not be read again: what was read before stays');
      }
    } while (isAskedAgain);
    isReading = false;
    serviceManager.reloaded();
  };
  process.on('SIGHUP', () => {
    isAskedAgain = true;
    if (!isReading) void read();
  });
}

function followLauncher(): void {
  if (launcherPipe === undefined) return;
  const pipe = new Socket({ fd: launcherPipe, readable: true, writable: false });
  pipe.on('error', () => {});
  pipe.once('close', () => launcher.onGone());
  pipe.resume();
  pipe.unref();
}
