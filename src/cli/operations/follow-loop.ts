/**
 * Repeats a request that follows a stream or list after each interruption, unless the control plane is away for
 * too long.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { BackOff, FrontdoorError, messageOf } from '#base';
import type { CliIo } from '../cli-io.ts';

const AWAY_MS = 120_000;

/** `round` runs until it fails, or returns true at the end. It calls `onArrival` whenever something arrives. */
export async function followed(io: CliIo, round: (onArrival: () => void) => Promise<boolean>): Promise<void> {
  const backOff = new BackOff({ minMs: 250, maxMs: 10_000, factor: 2 });
  let lastArrivalMs = performance.now();
  const onArrival = (): void => {
    lastArrivalMs = performance.now();
    backOff.reset();
  };
  for (;;) {
    try {
      if (await round(onArrival)) return;
    } catch (error) {
      if (!isAway(error) || performance.now() - lastArrivalMs > AWAY_MS) throw error;
      io.err(`frontdoor: ${messageOf(error)}; retrying\n`);
    }
    await pause(backOff.next());
  }
}

/** Whether a retry is worthwhile, which excludes refusals. Errors inside a stream are not `FrontdoorError`s. */
function isAway(error: unknown): boolean {
  return !(error instanceof FrontdoorError) || ['unavailable', 'timeout', 'limited'].includes(error.kind);
}
