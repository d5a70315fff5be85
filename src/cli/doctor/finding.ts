/** Findings of the doctor, and how checks run: concurrently, each with a deadline, independent of each other. */
import { messageOf } from '#base';
import { printable } from '#base/terminal';

export type FindingState = 'ok' | 'warning' | 'failure' | 'skipped';

export interface Finding {
  readonly check: string;
  readonly state: FindingState;
  readonly message: string;
  /** Present for every warning and failure. */
  readonly remedy?: string;
}

/** The result of a check. The runner adds the name of the check. */
export type CheckResult = Omit<Finding, 'check'>;

export interface Check {
  readonly name: string;
  readonly run: () => Promise<CheckResult>;
}

/** Deadline of one check. Requests inside it have shorter ones. */
const DEADLINE_MS = 5_000;
export const PROBE_MS = 4_000;

export const ok = (message: string): CheckResult => ({ state: 'ok', message });
export const skipped = (message: string): CheckResult => ({ state: 'skipped', message });
export const warning = (message: string, remedy: string): CheckResult => ({
  state: 'warning',
  message,
  remedy,
});
export const failure = (message: string, remedy: string): CheckResult => ({
  state: 'failure',
  message,
  remedy,
});

/** Returns the findings in the order of the checks. */
export function runChecks(checks: readonly Check[], deadlineMs = DEADLINE_MS): Promise<Finding[]> {
  return Promise.all(
    checks.map(async ({ name, run }) => ({ check: name, ...(await inTime(run, deadlineMs)) })),
  );
}

async function inTime(run: Check['run'], deadlineMs: number): Promise<CheckResult> {
  const { promise, resolve } = Promise.withResolvers<CheckResult>();
  const late = failure(
    `no result within ${deadlineMs / 1_000} s`,
    'try again; if the problem persists, check the network',
  );
  const timer = setTimeout(() => resolve(late), deadlineMs);
  try {
    return await Promise.race([run(), promise]);
  } catch (error) {
    return failure(messageOf(error), 'the check itself failed; see the other findings');
  } finally {
    clearTimeout(timer);
  }
}

const MARKS: Readonly<Record<FindingState, string>> = {
  ok: 'ok',
  warning: 'warn',
  failure: 'FAIL',
  skipped: '-',
};

export function findingsText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .map(({ check, state, message, remedy }) => {
      const line = `${MARKS[state].padEnd(4)}  ${check.padEnd(width)}  ${printable(message)}\n`;
      return remedy === undefined ? line : `${line}${' '.repeat(width + 8)}-> ${printable(remedy)}\n`;
    })
    .join('');
}
