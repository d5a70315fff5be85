/**
 * Sends requests while another part is attacked or fails. Each must get the right answer, which proves that
 * other users were not disturbed.
 */
import assert from 'node:assert/strict';
import { RunningTime } from './deadline.ts';
import { askRaw } from './raw-http-client.ts';

export interface CanaryResult {
  readonly requests: number;
  /** In running time, as all limits here: time during which the machine stands still does not count. */
  readonly p99Ms: number;
  readonly worstMs: number;
}

export interface Canary extends AsyncDisposable {
  readonly requests: number;
  /** Ends the loop, as leaving its scope does (`await using`); fails when one request was not right, or when there were fewer than `atLeast`. */
  stop(atLeast?: number): Promise<CanaryResult>;
}

const PAUSE_MS = 40;

/** Asks for `path` at the gateway again and again, one request after the other, each on a new connection. */
export function startCanary(port: number, host: string, path: string, bodyBytes: number): Canary {
  const tookMs: number[] = [];
  const wrong: string[] = [];
  let isStopped = false;
  const time = new RunningTime();
  const run = async (): Promise<void> => {
    while (!isStopped) {
      const startedMs = time.ms;
      try {
        const answer = await askRaw(port, { path, host });
        const { status, isComplete } = answer;
        if (status !== 200 || !isComplete || answer.bodyBytes !== bodyBytes) {
          wrong.push(
            `request ${tookMs.length}: ${status}, ${answer.bodyBytes} bytes, ${answer.text.slice(0, 200)}`,
          );
        }
      } catch (error) {
        wrong.push(`request ${tookMs.length}: ${String(error)}`);
      }
      tookMs.push(time.ms - startedMs);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const running = run();
  const end = async (): Promise<void> => {
    isStopped = true;
    await running;
    time[Symbol.dispose]();
  };
  return {
    [Symbol.asyncDispose]: end,
    get requests() {
      return tookMs.length;
    },
    stop: async (atLeast = 1) => {
      while (tookMs.length < atLeast && wrong.length === 0) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      await end();
      assert.deepEqual(
        wrong.slice(0, 3),
        [],
        `the canary was disturbed in ${wrong.length} of ${tookMs.length} requests`,
      );
      const sorted = tookMs.sort((a, b) => a - b);
      return {
        requests: sorted.length,
        p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
        worstMs: sorted.at(-1) ?? 0,
      };
    },
  };
}
