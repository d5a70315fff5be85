/**
 * Measures hosted services: drives one status machine per service with the reports of routers, and sends the probes that it
 * requests. A probe is a circuit with only an egress, which ends as soon as the host has reached its backend. The
 * rate is limited.
 */
import { generateKeyPairSync } from 'node:crypto';
import { utf8, type Clock, type Log } from '#base';
import { headerId } from '#wire';
import { RouteErrorCode, type RouteResult } from '#wire/circuits';
import { ctrlMessages } from '#wire/ctrl';
import type { MeasuredKind, MeasuredService, Measurements, ServiceStatus } from '../model/service-status.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import {
  isProbeDue,
  isWaiting,
  measuredOf,
  serviceStatusAt,
  stepService,
  type ServiceEvent,
  type ServiceStatusState,
} from './service-status-machine.ts';
import { newCircuitId, randomId } from '../mesh/random-ids.ts';
import { ServiceStatusLog } from './service-status-log.ts';
import { chooseTerminator } from './terminator-choice-policy.ts';
import {
  isHosted,
  type TerminatorOfHost,
  type Terminator,
  type TerminatorRegistry,
} from './terminator-registry.ts';
import type { TerminatorValidation } from './terminator-validation.ts';

const PROBE_TIMEOUT_MS = 6_000;
/** Timeout of the router for the host, shorter than ours, so that its reason arrives. */
const ROUTE_TIMEOUT_MS = 5_000;
/** After the start, routers and agents are still connecting, so no agent counts as offline. */
const START_GRACE_MS = 15_000;

/** A key of which nobody has the private half: no data follows a probe. */
const PROBE_KEY = new Uint8Array(
  generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32),
);

export interface ServiceProberOptions {
  readonly model: OverlayModel;
  readonly terminators: TerminatorRegistry;
  readonly routers: RouterRegistry;
  readonly validation: Pick<TerminatorValidation, 'doubt'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxProbesPerSecond?: number | undefined;
  /** Whether another control plane has the environment's channel, and measures its shares. */
  readonly isConnectedElsewhere?: ((identityId: string) => boolean) | undefined;
}

interface Probe {
  readonly terminator: TerminatorOfHost;
  /** That of the terminator when the probe was sent. */
  readonly marker: bigint;
  readonly deadlineMs: number;
}

/** Waiting shares that one tick looks at, so that it takes a few milliseconds. The next tick continues with the others. */
const MAX_SHARES_PER_TICK = 5_000;
/** Shares whose status one tick changes: each change goes to the log, to streams and to counts. */
const MAX_CHANGES_PER_TICK = 1_000;

export class ServiceProber implements Measurements {
  readonly #options: ServiceProberOptions;
  readonly #maxPerSecond: number;
  readonly #shares = new Map<string, ServiceStatusState>();
  /** Ids of the shares that time can change. Shares without a host are not among them for long. */
  readonly #waiting = new Set<string>();
  /** Where the next tick continues. */
  #next = this.#waiting.values();
  /** By circuit id, in the order of their deadlines. */
  readonly #probes = new Map<string, Probe>();
  readonly #listeners: ((kind: MeasuredKind, id: string) => void)[] = [];
  readonly #statusLog: ServiceStatusLog;
  readonly #startedAtMs: number;
  #allowance: number;
  #allowanceAtMs: number;

  constructor(options: ServiceProberOptions) {
    this.#options = options;
    this.#maxPerSecond = options.maxProbesPerSecond ?? 50;
    this.#statusLog = new ServiceStatusLog(options.log);
    this.#startedAtMs = options.clock.nowMs();
    this.#allowance = this.#maxPerSecond;
    this.#allowanceAtMs = this.#startedAtMs;
    options.terminators.onChange((terminator, change) => this.#onTerminator(terminator, change));
    options.terminators.onBoundAgain(({ serviceId }) => {
      if (this.#shares.has(serviceId)) this.#step(serviceId, { type: 'changed' });
    });
  }

  service(serviceId: string): ServiceStatus {
    return serviceStatusAt(this.measured(serviceId), this.#options.clock.nowMs());
  }

  measured(serviceId: string): MeasuredService | undefined {
    const record = this.#shares.get(serviceId);
    return record === undefined ? undefined : measuredOf(record);
  }

  onMeasured(listener: (kind: MeasuredKind, id: string) => void): void {
    this.#listeners.push(listener);
  }

  isConnected(identityId: string): boolean {
    const { routers, terminators } = this.#options;
    // Some routers report presence late or never, so a reachable host of shares also counts as present.
    const mayHost = this.#options.model.identity(identityId)?.kind === 'environment';
    for (const { id, presentIdentities } of routers.all())
      if (presentIdentities.has(identityId) || (mayHost && terminators.countAt(id, identityId) > 0))
        return true;
    return false;
  }

  channels(identityId: string): string {
    return this.isConnected(identityId) ? 'here' : '';
  }

  onServiceKnown(serviceId: string): void {
    if (this.#shares.has(serviceId)) {
      this.#step(serviceId, { type: 'changed' });
      return;
    }
    const { model, clock } = this.#options;
    const hostId = model.hostedService(serviceId)?.hostId ?? '';
    const isStarting = clock.nowMs() - this.#startedAtMs < START_GRACE_MS;
    const isAgentConnected = isStarting || this.isConnected(hostId) || this.#isElsewhere(hostId);
    this.#step(serviceId, { type: 'known', isAgentConnected });
    if (this.#reachable(serviceId).length > 0) this.#step(serviceId, { type: 'hosted' });
  }

  onServiceGone(serviceId: string): void {
    this.#shares.delete(serviceId);
    this.#waiting.delete(serviceId);
    for (const [circuitId, { terminator }] of this.#probes) {
      if (terminator.serviceId === serviceId) this.#probes.delete(circuitId);
    }
  }

  onRouterConnected(router: ConnectedRouter): void {
    for (const { serviceId, identityId } of this.#options.terminators.ofRouter(router.id).values()) {
      // Services of the edge management API are not measured.
      if (this.#shares.has(serviceId)) this.#step(serviceId, { type: 'hosted' });
      this.#notify('identity', identityId);
    }
  }

  /** These identities connected to a router, or disconnected. */
  onPresence(identityIds: Iterable<string>): void {
    for (const id of identityIds) this.#notify('identity', id);
  }

  onRouterEdge(routerId: string): void {
    this.#notify('router', routerId);
  }

  onRouterGone(router: ConnectedRouter): void {
    for (const [circuitId, { terminator }] of this.#probes) {
      if (terminator.routerId === router.id) this.#probes.delete(circuitId);
    }
    this.onPresence(router.presentIdentities);
    for (const { serviceId, identityId } of this.#options.terminators.ofRouter(router.id).values()) {
      this.#notify('identity', identityId);
      if (!this.#shares.has(serviceId) || this.#reachable(serviceId).length > 0) continue;
      this.#step(serviceId, { type: 'unhosted', reason: `router ${router.id} is not connected` });
    }
  }

  /** The result of a real circuit to the terminator. */
  onCircuitResult(terminator: Pick<Terminator, 'serviceId'>, error: string | undefined): void {
    if (!this.#shares.has(terminator.serviceId)) return;
    this.#step(terminator.serviceId, error === undefined ? { type: 'success' } : { type: 'failure', error });
  }

  /** Returns false if the circuit is not a probe. */
  onRouteResult(router: ConnectedRouter, result: RouteResult): boolean {
    const probe = this.#probes.get(result.circuitId);
    if (probe === undefined || probe.terminator.routerId !== router.id) return false;
    this.#probes.delete(result.circuitId);
    const { terminator, marker } = probe;
    const { terminators, validation } = this.#options;
    if (result.isSuccess) router.send(ctrlMessages.unroute.frame({ circuitId: result.circuitId, now: true }));
    // A bind after the probe was sent has caused another one.
    if (terminators.get(terminator.id)?.marker !== marker) return true;
    if (result.isSuccess) {
      this.#step(terminator.serviceId, { type: 'success' });
      return true;
    }
    if (result.errorCode === RouteErrorCode.invalidTerminator) {
      this.#step(terminator.serviceId, { type: 'lost' });
      validation.doubt(terminator);
      return true;
    }
    this.#step(terminator.serviceId, { type: 'failure', error: result.error || 'refused' });
    return true;
  }

  tick(nowMs: number): void {
    this.#statusLog.tick(nowMs);
    const { terminators, routers } = this.#options;
    for (const [circuitId, { terminator, marker, deadlineMs }] of this.#probes) {
      if (deadlineMs > nowMs) break;
      this.#probes.delete(circuitId);
      routers.get(terminator.routerId)?.send(ctrlMessages.unroute.frame({ circuitId, now: true }));
      if (terminators.get(terminator.id)?.marker !== marker) continue;
      this.#step(terminator.serviceId, { type: 'failure', error: 'no answer to the probe in time' });
    }
    let changes = 0;
    for (let count = 0; count < MAX_SHARES_PER_TICK && changes < MAX_CHANGES_PER_TICK; count += 1) {
      const { done = false, value } = this.#next.next();
      if (done) {
        this.#next = this.#waiting.values();
        return;
      }
      const serviceId = value as string;
      const record = this.#shares.get(serviceId)!;
      const stepped = stepService(record, { type: 'tick' }, nowMs);
      if (stepped !== record) {
        changes += 1;
        this.#set(serviceId, record, stepped);
      }
      if (isProbeDue(stepped, nowMs)) this.#probe(serviceId, nowMs);
    }
  }

  #onTerminator(terminator: Terminator, change: 'added' | 'changed' | 'removed'): void {
    const { serviceId, identityId } = terminator;
    this.#notify('identity', identityId);
    if (!this.#shares.has(serviceId)) return;
    const reachable = this.#reachable(serviceId);
    if (change === 'removed') {
      if (reachable.length === 0)
        this.#step(serviceId, { type: 'unhosted', reason: 'no agent hosts this share' });
      return;
    }
    if (change === 'added') {
      if (reachable.length > 0) this.#step(serviceId, { type: 'hosted' });
      return;
    }
    const wasHealthy = this.#shares.get(serviceId)?.isHealthy ?? true;
    const isHealthy = reachable.some((each) => each.isHealthy);
    if (reachable.length > 0 && isHealthy !== wasHealthy)
      this.#step(serviceId, { type: 'health', passed: isHealthy });
  }

  #reachable(serviceId: string): TerminatorOfHost[] {
    const { terminators, routers } = this.#options;
    const hosted = [...terminators.ofService(serviceId).values()].filter(isHosted);
    return hosted.filter(({ routerId }) => routers.get(routerId) !== undefined);
  }

  #step(serviceId: string, event: ServiceEvent): void {
    const nowMs = this.#options.clock.nowMs();
    const before = this.#shares.get(serviceId);
    const after = stepService(before, event, nowMs);
    this.#set(serviceId, before, after);
    if (isProbeDue(after, nowMs)) this.#probe(serviceId, nowMs);
  }

  #set(serviceId: string, before: ServiceStatusState | undefined, after: ServiceStatusState): void {
    this.#shares.set(serviceId, after);
    if (isWaiting(after)) this.#waiting.add(serviceId);
    else this.#waiting.delete(serviceId);
    if (this.#listeners.length > 0 && !isSameMeasurement(before, after)) this.#notify('service', serviceId);
    if (before?.state === after.state) return;
    const service = this.#options.model.hostedService(serviceId);
    // Observations of this control plane do not apply to it.
    if (service !== undefined && this.#isElsewhere(service.hostId)) return;
    this.#statusLog.write(serviceId, service?.name, after, this.#options.clock.nowMs());
  }

  #isElsewhere(identityId: string): boolean {
    return this.#options.isConnectedElsewhere?.(identityId) === true && !this.isConnected(identityId);
  }

  #notify(kind: MeasuredKind, id: string | undefined): void {
    if (id === undefined) return;
    for (const listener of this.#listeners) listener(kind, id);
  }

  #probe(serviceId: string, nowMs: number): void {
    if (!this.#hasAllowance(nowMs)) return;
    const terminator = chooseTerminator(this.#reachable(serviceId), Math.random);
    if (terminator === undefined) return;
    this.#allowance -= 1;
    // An older probe is void; its response is treated as a stray.
    for (const [id, probe] of this.#probes)
      if (probe.terminator.serviceId === serviceId) this.#probes.delete(id);
    const circuitId = newCircuitId();
    const { marker } = terminator;
    this.#probes.set(circuitId, { terminator, marker, deadlineMs: nowMs + PROBE_TIMEOUT_MS });
    this.#shares.set(serviceId, stepService(this.#shares.get(serviceId), { type: 'probing' }, nowMs));
    const route = ctrlMessages.route.frame({
      circuitId,
      egress: {
        binding: terminator.binding,
        address: randomId(),
        destination: terminator.address,
        peerData: [
          { key: headerId.peerData.callerId, value: utf8('frontdoor-probe') },
          // Some hosts with a key refuse dials without one.
          ...(terminator.peerData.has(headerId.edge.publicKey)
            ? [{ key: headerId.edge.publicKey, value: PROBE_KEY }]
            : []),
        ],
      },
      timeout: BigInt(ROUTE_TIMEOUT_MS) * 1_000_000n,
      tags: { serviceId, hostId: terminator.identityId },
    });
    this.#options.routers.get(terminator.routerId)?.send(route);
  }

  #hasAllowance(nowMs: number): boolean {
    const gained = ((nowMs - this.#allowanceAtMs) / 1_000) * this.#maxPerSecond;
    this.#allowance = Math.min(this.#maxPerSecond, this.#allowance + Math.max(0, gained));
    this.#allowanceAtMs = nowMs;
    return this.#allowance >= 1;
  }
}

function isSameMeasurement(before: ServiceStatusState | undefined, after: ServiceStatusState): boolean {
  if (before === undefined) return false;
  const [a, b] = [measuredOf(before), measuredOf(after)];
  return (
    a.state === b.state &&
    a.count === b.count &&
    a.lastError === b.lastError &&
    a.nextProbeMs === b.nextProbeMs
  );
}
