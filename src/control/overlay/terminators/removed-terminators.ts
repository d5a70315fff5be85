/**
 * Terminators that were removed from memory although their routers may still host them: a notification of another
 * control plane, a model that was out of date, an administrator. Their routers are asked, and those that still exist
 * and are permitted are added again, because neither router nor host would notice that they are missing.
 */
import { messageOf, type Clock, type Log } from '#base';
import { ctrlMessages } from '#wire/ctrl';
import type { ApiSessions } from '../model/api-sessions.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import { mayHost } from '../permits/host-permission.ts';
import { HostPostures } from '../permits/posture-access.ts';
import {
  isHosted,
  type TerminatorOfHost,
  type Terminator,
  type TerminatorRegistry,
} from './terminator-registry.ts';

/** How long the permission for a removed terminator, and the answer of its router, are awaited. */
const KEPT_MS = 10_000;
/** Longer than a control plane needs to store a terminator that its router reports, and shorter than a visitor waits. */
const FIRST_ASK_MS = 500;
const ASK_AGAIN_MS = 2_000;
/** The oldest are given up for later ones: their routers report them after the next connect. */
const MAX_KEPT = 20_000;
const MAX_PER_REQUEST = 500;

export interface RemovedTerminatorsOptions {
  readonly model: OverlayModel;
  readonly sessions: ApiSessions;
  readonly terminators: TerminatorRegistry;
  readonly routers: RouterRegistry;
  readonly clock: Clock;
  /** For durations. */
  readonly leases: Clock;
  readonly log: Log;
}

interface Removed {
  readonly terminator: TerminatorOfHost;
  readonly untilMs: number;
  /** When its router is to be asked. */
  askMs: number;
}

export class RemovedTerminators {
  readonly #options: RemovedTerminatorsOptions;
  /** By id, in the order of their removal. */
  readonly #kept = new Map<string, Removed>();

  constructor(options: RemovedTerminatorsOptions) {
    this.#options = options;
    options.terminators.onChange((terminator, change) => {
      this.#kept.delete(terminator.id);
      if (change === 'removed' && isHosted(terminator)) this.#keep(terminator);
    });
  }

  tick(nowMs: number): void {
    if (this.#kept.size === 0) return;
    const { model, sessions, routers, clock } = this.#options;
    const hosts = new HostPostures(model, sessions, clock.nowMs());
    const byRouter = new Map<ConnectedRouter, Terminator[]>();
    for (const [id, removed] of this.#kept) {
      const { terminator, untilMs, askMs } = removed;
      const router = routers.get(terminator.routerId);
      if (router === undefined || nowMs >= untilMs) {
        // A router that connects reports what it hosts.
        this.#kept.delete(id);
        continue;
      }
      if (nowMs < askMs || !mayHost(model, hosts, terminator)) continue;
      removed.askMs = nowMs + ASK_AGAIN_MS;
      byRouter.set(router, [...(byRouter.get(router) ?? []), terminator]);
    }
    for (const [router, terminators] of byRouter) askRouter(router, terminators);
  }

  /** Handles what a router answered about a terminator that is not known here. */
  onAnswer(
    router: ConnectedRouter,
    id: string,
    { valid, marker }: { readonly valid: boolean; readonly marker: bigint },
  ): void {
    const { model, sessions, clock, log } = this.#options;
    const terminator = this.#kept.get(id)?.terminator;
    if (terminator?.routerId !== router.id || terminator.marker !== marker) return;
    this.#kept.delete(id);
    const hosts = new HostPostures(model, sessions, clock.nowMs());
    if (!valid || !mayHost(model, hosts, terminator)) return;
    log.warn(
      { terminator: id, router: router.id },
      'a terminator that was removed still exists; added again',
    );
    this.#addAgain(terminator).catch((error: unknown) => {
      log.warn({ err: messageOf(error), terminator: id }, 'a terminator could not be added again');
    });
  }

  async #addAgain(removed: TerminatorOfHost): Promise<void> {
    const { terminators } = this.#options;
    await terminators.add(removed);
    const added = terminators.get(removed.id);
    if (added !== undefined) terminators.setHealth(added, removed.isHealthy);
  }

  #keep(terminator: TerminatorOfHost): void {
    const nowMs = this.#options.leases.nowMs();
    this.#kept.set(terminator.id, { terminator, untilMs: nowMs + KEPT_MS, askMs: nowMs + FIRST_ASK_MS });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!);
  }
}

/** Asks a router which of the terminators it hosts. It answers with a ValidateTerminatorsV2Response. */
export function askRouter(router: ConnectedRouter, terminators: readonly Terminator[]): void {
  for (let at = 0; at < terminators.length; at += MAX_PER_REQUEST) {
    const asked = terminators
      .slice(at, at + MAX_PER_REQUEST)
      .map(({ id, binding, address, marker }) => ({ id, binding, address, marker }));
    router.send(ctrlMessages.validateTerminatorsV2.frame({ terminators: asked, fixInvalid: true }));
  }
}
