/**
 * Formats the response of the health-checks API like OpenZiti's routers: indented by four spaces, with keys in a fixed
 * order, and a newline at the end. Pure.
 */
import type { CheckState } from './health-check.ts';
import type { Health } from './health-checks.ts';

/** `isShort`: only the id and the result of each check. */
export function healthDocument({ checks, isHealthy }: Health, isShort: boolean): string {
  const document = {
    data: { checks: checks.map(isShort ? shortForm : longForm), healthy: isHealthy },
    meta: {},
  };
  return `${JSON.stringify(document, null, 4)}\n`;
}

function shortForm({ id, isHealthy }: CheckState) {
  return { healthy: isHealthy, id };
}

/** Keys with the value undefined are omitted. */
function longForm(state: CheckState) {
  const { problem, failingSinceMs } = state;
  const isFailing = problem !== undefined;
  return {
    consecutiveFailures: isFailing ? state.consecutiveFailures : undefined,
    details: state.details,
    err: isFailing ? { message: problem } : undefined,
    failingSince: failingSinceMs === undefined ? undefined : secondOf(failingSinceMs),
    healthy: state.isHealthy,
    id: state.id,
    lastCheckDuration: goDurationText(state.tookNs),
    lastCheckTime: secondOf(state.checkedMs),
  };
}

/** Formats as RFC 3339 in UTC with whole seconds. */
function secondOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Formats whole nanoseconds as `1.2µs`, `15ms`, `2m0.5s`. */
export function goDurationText(nanoseconds: number): string {
  if (nanoseconds === 0) return '0s';
  if (nanoseconds < 1e3) return `${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${nanoseconds / 1e3}µs`;
  if (nanoseconds < 1e9) return `${nanoseconds / 1e6}ms`;
  const wholeSeconds = Math.floor(nanoseconds / 1e9);
  const hours = Math.floor(wholeSeconds / 3_600);
  const minutes = Math.floor(wholeSeconds / 60) % 60;
  const fraction = String(Math.round(nanoseconds % 1e9))
    .padStart(9, '0')
    .replace(/0+$/, '');
  const seconds = `${wholeSeconds % 60}${fraction === '' ? '' : `.${fraction}`}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
