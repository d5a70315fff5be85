/**
 * The time of the last change to an identity's list of services, for clients that poll. It changes with every
 * service that the identity may use, never goes backwards, and changes at each start of the control plane.
 */
import type { Clock } from '#base';
import type { ModelChange, OverlayModel, ProjectedService } from '../../overlay/model/mod.ts';

export class ServiceChanges {
  readonly #model: OverlayModel;
  readonly #clock: Clock;
  readonly #byIdentity = new Map<string, number>();
  /** For identities without an entry. */
  readonly #startMs: number;
  /** Gateways see every public service, so they share one time. */
  #gatewaysMs: number;
  /** A policy may concern any identity of the edge management API, so they share one time too. */
  #edgeMs: number;
  #lastMs: number;

  constructor(model: OverlayModel, clock: Clock) {
    this.#model = model;
    this.#clock = clock;
    this.#startMs = clock.nowMs();
    this.#gatewaysMs = this.#startMs;
    this.#edgeMs = this.#startMs;
    this.#lastMs = this.#startMs;
    model.onChange((change) => this.#take(change));
  }

  /** In Unix milliseconds. */
  lastChangeMs(identityId: string): number {
    const own = this.#byIdentity.get(identityId) ?? this.#startMs;
    const kind = this.#model.identity(identityId)?.kind;
    if (kind === 'edge') return Math.max(own, this.#edgeMs);
    return kind === 'gateway' ? Math.max(own, this.#gatewaysMs) : own;
  }

  /** A posture has changed, and with it whether policies pass. */
  onPostureChanged(identityId: string): void {
    this.#lastMs = Math.max(this.#clock.nowMs(), this.#lastMs + 1);
    this.#byIdentity.set(identityId, this.#lastMs);
  }

  #take(change: ModelChange): void {
    if (change.type === 'identity') {
      if (change.removed) this.#byIdentity.delete(change.id);
      return;
    }
    // Fabric services concern only routers.
    if (change.type !== 'service' && change.type !== 'edge') return;
    // Two changes in one millisecond need different times, because clients compare for equality.
    this.#lastMs = Math.max(this.#clock.nowMs(), this.#lastMs + 1);
    if (change.type === 'edge') {
      this.#edgeMs = this.#lastMs;
      return;
    }
    this.#gatewaysMs = this.#lastMs;
    for (const service of [change.before, this.#model.hostedService(change.id)]) {
      for (const identityId of usersOf(service)) {
        if (this.#model.identity(identityId) !== undefined) this.#byIdentity.set(identityId, this.#lastMs);
      }
    }
  }
}

function usersOf(service: ProjectedService | undefined): readonly string[] {
  return service === undefined ? [] : [service.hostId, ...service.grants];
}
