/**
 * Brings the overlay in line when a service, grant, identity or log-in goes or changes: terminators that may not be,
 * circuits that may not go on, dials in progress. Changes that come together are worked off together.
 */
import type { Log } from '#base';
import type { ApiSessions } from '../model/api-sessions.ts';
import type { ModelChange, OverlayModel } from '../model/overlay-model.ts';
import type { CircuitBuilder } from './circuit-builder.ts';
import type { CircuitRegistry } from './circuit-registry.ts';
import type { ShareProber } from './share-prober.ts';
import type { Terminator, TerminatorRegistry } from './terminator-registry.ts';

export interface ModelFollowerParts {
  readonly model: OverlayModel;
  readonly sessions: ApiSessions;
  readonly terminators: TerminatorRegistry;
  readonly circuits: CircuitRegistry;
  readonly builder: CircuitBuilder;
  readonly prober: ShareProber;
  readonly log: Log;
}

export class ModelFollower {
  readonly #parts: ModelFollowerParts;
  #isSweepDue = false;
  #isStopped = false;

  constructor(parts: ModelFollowerParts) {
    this.#parts = parts;
    parts.sessions.onRemoved(() => this.#scheduleSweep());
  }

  stop(): void {
    this.#isStopped = true;
  }

  onChange(change: ModelChange): void {
    if (this.#isStopped) return;
    const { prober } = this.#parts;
    if (change.type === 'service') {
      if (change.removed) prober.onServiceGone(change.id);
      else prober.onServiceKnown(change.id);
      // A new service takes nothing away.
      if (!change.removed && change.before === undefined) return;
    } else if (!change.removed) return;
    this.#scheduleSweep();
  }

  /** Ends everything that the model no longer allows. */
  sweep(): void {
    const { model, sessions, terminators, circuits, builder, log } = this.#parts;
    const mayDial = (serviceId: string, identityId: string): boolean => {
      const service = model.service(serviceId);
      return service !== undefined && model.mayDial(identityId, service);
    };
    const isOver = (serviceId: string, identityId: string, sessionId: string): boolean =>
      sessions.byId(sessionId) === undefined || !mayDial(serviceId, identityId);
    builder.refuseWhere(({ service, identityId, sessionId }) => isOver(service.id, identityId, sessionId));

    const gone: Terminator[] = [];
    const goneIds = new Set<string>();
    for (const terminator of terminators.all()) {
      const service = model.service(terminator.serviceId);
      const host = model.identity(terminator.identityId);
      const mayStay =
        service !== undefined &&
        host !== undefined &&
        model.mayBind(terminator.identityId, service) &&
        model.identity(terminator.routerId) !== undefined;
      if (mayStay) continue;
      gone.push(terminator);
      goneIds.add(terminator.id);
    }
    if (gone.length > 0) {
      terminators.removeDisallowed(gone).catch((error: unknown) => {
        log.warn({ err: error, count: gone.length }, 'terminators not removed from the store');
      });
    }
    const count = circuits.endWhere(
      ({ serviceId, identityId, sessionId, terminatorId }) =>
        goneIds.has(terminatorId) || isOver(serviceId, identityId, sessionId),
    );
    if (gone.length + count > 0) {
      log.info({ terminators: gone.length, circuits: count }, 'ended what the model no longer allows');
    }
  }

  #scheduleSweep(): void {
    if (this.#isSweepDue || this.#isStopped) return;
    this.#isSweepDue = true;
    setImmediate(() => {
      this.#isSweepDue = false;
      if (!this.#isStopped) this.sweep();
    });
  }
}
