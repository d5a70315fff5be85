/**
 * Applies changes of services, grants, identities and log-ins to the overlay: removes terminators, circuits and
 * pending dials that are no longer permitted. Changes in quick succession are handled together.
 */
import type { Clock, Log } from '#base';
import type { ApiSessions, ModelChange, OverlayModel } from '../model/mod.ts';
import type { CircuitBuilder } from './circuit-builder.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import { mayHost } from './host-permission.ts';
import { HostPostures, passesPosture } from './posture-access.ts';
import type { ShareProber } from './share-prober.ts';
import type { TerminatorCosts } from './terminator-costs.ts';
import type { Terminator, TerminatorRegistry } from './terminator-registry.ts';

export interface ModelFollowerParts {
  readonly model: OverlayModel;
  readonly sessions: ApiSessions;
  readonly terminators: TerminatorRegistry;
  readonly circuits: CircuitRegistry;
  readonly builder: CircuitBuilder;
  readonly costs: TerminatorCosts;
  readonly prober: ShareProber;
  readonly clock: Clock;
  readonly log: Log;
}

interface Dialer {
  readonly identityId: string | undefined;
  readonly sessionId: string | undefined;
}

/** Interval of looks at what time alone ends. */
const TIMED_SWEEP_MS = 2_000;

export class ModelFollower {
  readonly #parts: ModelFollowerParts;
  #isSweepDue = false;
  /** The services whose changes the next sweep applies; undefined: it looks at all. */
  #changedServices: Set<string> | undefined = new Set();
  #timedSweepMs = 0;
  #isStopped = false;

  constructor(parts: ModelFollowerParts) {
    this.#parts = parts;
    parts.sessions.onRemoved(() => this.#scheduleSweep());
    parts.sessions.onPostureChanged(() => this.#scheduleSweep());
  }

  stop(): void {
    this.#isStopped = true;
  }

  onChange(change: ModelChange): void {
    if (this.#isStopped) return;
    const { prober } = this.#parts;
    if (change.type === 'edge') {
      // A new entity permits more, and nothing less, except a posture check, which policies may select by an attribute.
      const { edge } = this.#parts.model;
      if (change.before !== undefined || edge.find(change.id)?.kind === 'posture-check')
        this.#scheduleSweep();
      return;
    }
    if (change.type === 'service') {
      if (change.removed) prober.onServiceGone(change.id);
      else prober.onServiceKnown(change.id);
      // A new service removes nothing, and a change of one concerns no other.
      if (change.removed || change.before !== undefined) this.#scheduleSweep(change.id);
      return;
    }
    if (!change.removed) return;
    if (change.type === 'fabric-service') this.#parts.costs.forgetService(change.id);
    // Circuits to a removed terminator continue while the service exists.
    if (change.type !== 'fabric-terminator') this.#scheduleSweep();
  }

  /** Time alone can end what a one-time password grants. */
  tick(nowMs: number): void {
    if (this.#isStopped || !this.#parts.model.edge.postureChecks.areTimed || nowMs < this.#timedSweepMs)
      return;
    this.#timedSweepMs = nowMs + TIMED_SWEEP_MS;
    this.sweep();
  }

  /** Ends everything that the model no longer permits, or only what belongs to some services. */
  sweep(serviceIds?: ReadonlySet<string>): void {
    const { model, sessions, terminators, circuits, builder, clock, log } = this.#parts;
    const nowMs = clock.nowMs();
    const hosts = new HostPostures(model, sessions, nowMs);
    const mayDial = (serviceId: string, identityId: string, routerId: string): boolean => {
      const service = model.anyService(serviceId);
      if (service === undefined || !model.mayDial(identityId, service)) return false;
      return model.mayUseRouter(identityId, service, routerId);
    };
    /** Without an identity, `routerId` dialed a fabric service. Without a session, it dialed as its own identity. */
    const isOver = (serviceId: string, dialer: Dialer, routerId: string): boolean => {
      const { identityId, sessionId } = dialer;
      if (identityId === undefined)
        return model.fabricService(serviceId) === undefined || model.identity(routerId) === undefined;
      const session = sessionId === undefined ? undefined : sessions.byId(sessionId);
      const isLoggedOut = sessionId !== undefined && session === undefined;
      if (isLoggedOut || !mayDial(serviceId, identityId, routerId)) return true;
      const dial = { type: 'Dial', identityId, serviceId } as const;
      return !passesPosture(model, dial, session, nowMs);
    };
    builder.refuseWhere((wish) => isOver(wish.service.id, wish, wish.ingress.id));

    const gone: Terminator[] = [];
    const goneIds = new Set<string>();
    const looked =
      serviceIds === undefined
        ? terminators.all()
        : [...serviceIds].flatMap((id) => [...terminators.ofService(id).values()]);
    for (const terminator of looked) {
      if (mayHost(model, hosts, terminator)) continue;
      gone.push(terminator);
      goneIds.add(terminator.id);
    }
    if (gone.length > 0) {
      terminators.removeDisallowed(gone).catch((error: unknown) => {
        log.warn({ err: error, count: gone.length }, 'terminators could not be removed from the store');
      });
    }
    const count = circuits.endWhere(
      (circuit) =>
        serviceIds?.has(circuit.serviceId) !== false &&
        (goneIds.has(circuit.terminatorId) ||
          isOver(circuit.serviceId, circuit, circuit.path.routerIds[0]!) ||
          circuit.path.routerIds.some((id) => model.identity(id) === undefined)),
    );
    if (gone.length + count > 0) {
      log.info(
        { terminators: gone.length, circuits: count },
        'ended circuits and terminators that the model no longer allows',
      );
    }
  }

  /** Without a service, the sweep looks at everything. */
  #scheduleSweep(serviceId?: string): void {
    if (serviceId === undefined) this.#changedServices = undefined;
    else this.#changedServices?.add(serviceId);
    if (this.#isSweepDue || this.#isStopped) return;
    this.#isSweepDue = true;
    setImmediate(() => {
      this.#isSweepDue = false;
      const changed = this.#changedServices;
      this.#changedServices = new Set();
      if (!this.#isStopped) this.sweep(changed);
    });
  }
}
