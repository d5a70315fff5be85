/**
 * The events that a test process sends to the runner: one JSON line each, through a pipe of their own, so that nothing
 * that a test prints can be taken for one.
 */
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';

/** The file descriptor of the pipe in a test process. */
export const EVENT_FD = 3;

export type TestEvent =
  | {
      readonly type: 'begin';
      readonly id: number;
      /** Absent for a test at the top level of the file. */
      readonly parentId?: number | undefined;
      readonly name: string;
    }
  | {
      readonly type: 'end';
      readonly id: number;
      readonly parentId?: number | undefined;
      readonly name: string;
      readonly isSuite: boolean;
      readonly outcome: TestOutcome;
      /** The reason for skipping the test. */
      readonly reason?: string | undefined;
      /** The text of the error, with its stack. */
      readonly error?: string | undefined;
    }
  /** An error that no test has caught: it was thrown in a callback, or rejected a promise that nothing awaited. */
  | { readonly type: 'stray'; readonly file?: string | undefined; readonly error: string }
  /** The end of a file that shares the process, at the time when it happens, and the CPU that the process used for it. */
  | {
      readonly type: 'usage';
      readonly file: string;
      readonly durationMs: number;
      readonly cpuSeconds: number;
    };

/** `derived`: only because a test inside failed. `cancelled`: because a test outside failed or ended. */
export type TestOutcome = 'passed' | 'skipped' | 'failed' | 'derived' | 'cancelled';

/** Writes synchronously, so that the line arrives even when this process is killed right afterwards. */
export function sendTestEvent(event: TestEvent): void {
  writeSync(EVENT_FD, `${JSON.stringify(event)}\n`);
}

/** The text of an error as node's own reporters print it. */
export function errorText(error: unknown): string {
  return inspect(error, { breakLength: Number.POSITIVE_INFINITY });
}
