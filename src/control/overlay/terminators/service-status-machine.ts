/**
 * The status of one hosted service, derived from events: whether it is hosted, whether its host found the backend healthy,
 * and whether a circuit reached it. Pure; the driver (service-prober.ts) feeds the events and sends the requested
 * probes.
 */
import type { MeasuredService, ServiceStatus } from '../model/service-status.ts';

export type ServiceEvent =
  /** The service is new here. `isAgentConnected`: its host has a channel, or may still be connecting. */
  | { readonly type: 'known'; readonly isAgentConnected: boolean }
  /** A reachable host was added. */
  | { readonly type: 'hosted' }
  /** The last reachable host was lost. */
  | { readonly type: 'unhosted'; readonly reason: string }
  /** Target or grants changed, so earlier measurements may not apply. */
  | { readonly type: 'changed' }
  /** The host's own check of the backend. */
  | { readonly type: 'health'; readonly passed: boolean }
  /** A probe or a real circuit reached the backend of a host that is still there. */
  | { readonly type: 'success' }
  | { readonly type: 'failure'; readonly error: string }
  /** A probe was sent. */
  | { readonly type: 'probing' }
  /** A probe reached no host, which may have bound again, or is found to be gone. */
  | { readonly type: 'lost' }
  | { readonly type: 'tick' };

export interface ServiceStatusState {
  readonly state: 'PENDING' | 'DEPLOYED' | 'FAILED';
  /** Number of successive failures. */
  readonly count: number;
  /** Empty unless FAILED. */
  readonly lastError: string;
  readonly isHosted: boolean;
  readonly isHealthy: boolean;
  /** From this time on, a missing host is a failure. */
  readonly hostDeadlineMs: number;
  readonly unhostedReason: string;
  /** When the next probe is due; Infinity: none until an event. */
  readonly nextProbeMs: number;
}

/** How long a new share may be without a host before that is a failure. */
export const FIRST_HOST_MS = 10_000;
/** How long a host may be missing (it rebinds, its router reconnects) before that shows. */
export const HOST_AWAY_MS = 2_000;
/** Interval from the last success to the next probe. */
export const PROBE_INTERVAL_MS = 60_000;
/** After this time a probe without a response is repeated. */
export const PROBE_LOST_MS = 12_000;
export const MIN_RETRY_MS = 1_000;
export const MAX_RETRY_MS = 8_000;

export function stepService(
  record: ServiceStatusState | undefined,
  event: ServiceEvent,
  nowMs: number,
): ServiceStatusState {
  const now = record ?? newRecord(nowMs);
  switch (event.type) {
    case 'known':
      return event.isAgentConnected || now.isHosted
        ? now
        : failed({ ...now, hostDeadlineMs: Infinity }, 'the agent of this environment is offline', nowMs);
    case 'hosted':
      return { ...now, isHosted: true, isHealthy: true, hostDeadlineMs: Infinity, nextProbeMs: nowMs };
    case 'unhosted':
      return {
        ...now,
        isHosted: false,
        unhostedReason: event.reason,
        hostDeadlineMs: now.isHosted ? nowMs + HOST_AWAY_MS : now.hostDeadlineMs,
        nextProbeMs: Infinity,
      };
    case 'changed':
      return now.isHosted ? { ...now, nextProbeMs: nowMs } : now;
    case 'health':
      if (event.passed) return { ...now, isHealthy: true, nextProbeMs: now.isHosted ? nowMs : Infinity };
      return failed({ ...now, isHealthy: false }, 'the agent finds its target not working', nowMs);
    case 'success':
      return succeeded({
        ...now,
        isHosted: true,
        hostDeadlineMs: Infinity,
        nextProbeMs: nowMs + PROBE_INTERVAL_MS,
      });
    case 'failure':
      return failed(now, event.error, nowMs);
    case 'probing':
      return { ...now, nextProbeMs: nowMs + PROBE_LOST_MS };
    case 'lost':
      return { ...now, nextProbeMs: now.isHosted ? nowMs + MIN_RETRY_MS : Infinity };
    case 'tick':
      if (now.isHosted || nowMs < now.hostDeadlineMs) return now;
      return failed({ ...now, hostDeadlineMs: Infinity }, now.unhostedReason, nowMs);
  }
}

export function measuredOf({ state, count, lastError, nextProbeMs }: ServiceStatusState): MeasuredService {
  if (state !== 'FAILED') return { state, count: 0, lastError: '', nextProbeMs: null };
  return { state, count, lastError, nextProbeMs: Number.isFinite(nextProbeMs) ? nextProbeMs : null };
}

/** Returns the status as shown now. Without a host, the next retry is only another check. */
export function serviceStatusAt(measured: MeasuredService | undefined, nowMs: number): ServiceStatus {
  if (measured === undefined) return { state: 'PENDING' };
  const { state, count, lastError, nextProbeMs } = measured;
  if (state !== 'FAILED') return { state };
  const nextMs = Math.max(nextProbeMs ?? nowMs + retryDelayMs(count), nowMs);
  return { state, failure: { count, lastError, nextRetry: new Date(nextMs).toISOString() } };
}

/** Whether a probe should be sent now. */
export function isProbeDue(record: ServiceStatusState, nowMs: number): boolean {
  return record.isHosted && nowMs >= record.nextProbeMs;
}

/** Whether a tick can change the status, or make a probe due. */
export function isWaiting({ isHosted, hostDeadlineMs }: ServiceStatusState): boolean {
  return isHosted || Number.isFinite(hostDeadlineMs);
}

/** Returns the delay before the next try after `count` successive failures. */
export function retryDelayMs(count: number): number {
  return Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** Math.min(count - 1, 10));
}

/** The backend may accept connections without responding, so its host's own check has precedence. */
function succeeded(record: ServiceStatusState): ServiceStatusState {
  return record.isHealthy ? { ...record, state: 'DEPLOYED', count: 0, lastError: '' } : record;
}

function failed(record: ServiceStatusState, error: string, nowMs: number): ServiceStatusState {
  const count = record.count + 1;
  const nextProbeMs = record.isHosted ? nowMs + retryDelayMs(count) : Infinity;
  return { ...record, state: 'FAILED', count, lastError: error, nextProbeMs };
}

function newRecord(nowMs: number): ServiceStatusState {
  return {
    state: 'PENDING',
    count: 0,
    lastError: '',
    isHosted: false,
    isHealthy: true,
    hostDeadlineMs: nowMs + FIRST_HOST_MS,
    unhostedReason: 'no agent hosts this share',
    nextProbeMs: Infinity,
  };
}
