/** Following something that goes on: what breaks is tried again, for as long as the control plane is away not too long. */
import { setTimeout as pause } from 'node:timers/promises';
import { BackOff, FrontdoorError, messageOf } from '#base';
import type { CliIo } from '../cli-io.ts';

const AWAY_MS = 120_000;

/** `round` runs until it breaks or is over (true), and calls `heard` at every sign of life. */
export async function followed(io: CliIo, round: (heard: () => void) => Promise<boolean>): Promise<void> {
  const backOff = new BackOff({ minMs: 250, maxMs: 10_000, factor: 2 });
  let heardMs = performance.now();
  const heard = (): void => {
    heardMs = performance.now();
    backOff.reset();
  };
  for (;;) {
    try {
      if (await round(heard)) return;
    } catch (error) {
      if (!isAway(error) || performance.now() - heardMs > AWAY_MS) throw error;
      io.err(`frontdoor: ${messageOf(error)}; trying again\n`);
    }
    await pause(backOff.next());
  }
}

/** Worth another try: everything but a refusal. What breaks inside a stream is no error of ours. */
function isAway(error: unknown): boolean {
  return !(error instanceof FrontdoorError) || ['unavailable', 'timeout', 'limited'].includes(error.kind);
}
