/**
 * Applies changes of services, grants, identities and log-ins to the overlay: removes terminators, circuits and
 * pending dials that are no longer permitted. Changes in quick succession are handled together.
 */
import type { Clock, Log } from '#base';
import { inSlices } from '../model/in-slices.ts';
import type { ApiSessions } from '../model/api-sessions.ts';
import type { ModelChange, OverlayModel } from '../model/overlay-model.ts';
import type { CircuitBuilder } from './circuit-builder.ts';
import type { CircuitRegistry, EstablishedCircuit } from './circuit-registry.ts';
import { mayHost } from '../permits/host-permission.ts';
import { HostPostures, passesPosture } from '../permits/posture-access.ts';
import type { ServiceProber } from '../terminators/service-prober.ts';
import type { TerminatorCosts } from '../terminators/terminator-costs.ts';
import { isHosted, type Terminator, type TerminatorRegistry } from '../terminators/terminator-registry.ts';

export interface ModelFollowerParts {
  readonly model: OverlayModel;
  readonly sessions: ApiSessions;
  readonly terminators: TerminatorRegistry;
  readonly circuits: CircuitRegistry;
  readonly builder: CircuitBuilder;
  readonly costs: TerminatorCosts;
  readonly prober: ServiceProber;
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

  /** Ends everything that the model no longer permits, in one turn of the loop: before routers connect. */
  sweep(): void {
    const { terminators, circuits } = this.#parts;
    const sweep = this.#begin();
    sweep.removeHosts(terminators.all());
    sweep.endCircuits(circuits.all());
    sweep.report();
  }

  /** There are as many terminators and circuits as shares: they are looked at in slices, between which other work is done. */
  async #sweepInTurns(): Promise<void> {
    const { terminators, circuits } = this.#parts;
    const sweep = this.#begin();
    for await (const slice of inSlices(terminators.all())) sweep.removeHosts(slice);
    for await (const slice of inSlices(circuits.all())) sweep.endCircuits(slice);
    sweep.report();
  }

  #sweepServices(serviceIds: ReadonlySet<string>): void {
    const { terminators, circuits } = this.#parts;
    const sweep = this.#begin();
    for (const id of serviceIds) sweep.removeHosts(terminators.ofService(id).values());
    sweep.endCircuits(circuits.all(), serviceIds);
    sweep.report();
  }

  /** Pending dials are refused at once. */
  #begin() {
    const { model, sessions, terminators, circuits, builder, clock, log } = this.#parts;
    const nowMs = clock.nowMs();
    const hosts = new HostPostures(model, sessions, nowMs);
    const isOver = (serviceId: string, dialer: Dialer, routerId: string): boolean =>
      isDialOver(this.#parts, serviceId, dialer, routerId, nowMs);
    builder.refuseWhere((wish) => isOver(wish.service.id, wish, wish.ingress.id));
    const goneIds = new Set<string>();
    let ended = 0;
    return {
      removeHosts(looked: Iterable<Terminator>): void {
        const gone = [...looked].filter(isHosted).filter((each) => !mayHost(model, hosts, each));
        if (gone.length === 0) return;
        for (const { id } of gone) goneIds.add(id);
        terminators.removeDisallowed(gone).catch((error: unknown) => {
          log.warn({ err: error, count: gone.length }, 'terminators could not be removed from the store');
        });
      },
      endCircuits(looked: Iterable<EstablishedCircuit>, serviceIds?: ReadonlySet<string>): void {
        for (const circuit of looked) {
          const { serviceId, terminatorId, path } = circuit;
          if (serviceIds?.has(serviceId) === false) continue;
          const isEnded =
            goneIds.has(terminatorId) ||
            isOver(serviceId, circuit, path.routerIds[0]!) ||
            path.routerIds.some((id) => model.identity(id) === undefined);
          if (!isEnded) continue;
          circuits.end(circuit, true);
          ended += 1;
        }
      },
      report(): void {
        if (goneIds.size + ended === 0) return;
        log.info(
          { terminators: goneIds.size, circuits: ended },
          'ended circuits and terminators that the model no longer allows',
        );
      },
    };
  }

  /** Without a service, the sweep looks at everything. */
  #scheduleSweep(serviceId?: string): void {
    if (serviceId === undefined) this.#changedServices = undefined;
    else this.#changedServices?.add(serviceId);
    if (this.#isSweepDue || this.#isStopped) return;
    this.#isSweepDue = true;
    setImmediate(() => void this.#sweepChanges());
  }

  /** Changes that come during a sweep are swept after it. */
  async #sweepChanges(): Promise<void> {
    const changed = this.#changedServices;
    this.#changedServices = new Set();
    if (!this.#isStopped) {
      if (changed === undefined) await this.#sweepInTurns();
      else this.#sweepServices(changed);
    }
    this.#isSweepDue = false;
    const since = this.#changedServices;
    if (since === undefined) this.#scheduleSweep();
    else for (const id of since) this.#scheduleSweep(id);
  }
}

/** Without an identity, `routerId` dialed a fabric service. Without a session, it dialed as its own identity. */
function isDialOver(
  { model, sessions }: Pick<ModelFollowerParts, 'model' | 'sessions'>,
  serviceId: string,
  { identityId, sessionId }: Dialer,
  routerId: string,
  nowMs: number,
): boolean {
  if (identityId === undefined)
    return model.fabricService(serviceId) === undefined || model.identity(routerId) === undefined;
  const session = sessionId === undefined ? undefined : sessions.byId(sessionId);
  if (sessionId !== undefined && session === undefined) return true;
  const service = model.service(serviceId);
  if (service === undefined || !model.mayDial(identityId, service)) return true;
  if (!model.mayUseRouter(identityId, service, routerId)) return true;
  return !passesPosture(model, { type: 'Dial', identityId, serviceId }, session, nowMs);
}
