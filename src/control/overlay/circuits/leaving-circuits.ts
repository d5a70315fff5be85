/**
 * Circuits whose far end stops. Our ingress routers are notified of them, so that gateways do not keep them for
 * later requests. The circuits themselves continue. Changes in quick succession are handled together.
 */
import { contentType, makeFrame } from '#wire';
import type { CircuitRegistry } from './circuit-registry.ts';
import type { RouterRegistry } from '../mesh/connected-router.ts';
import { Precedence, type TerminatorRegistry } from '../terminators/terminator-registry.ts';

export interface LeavingCircuitsOptions {
  readonly routers: RouterRegistry;
  readonly circuits: CircuitRegistry;
  readonly terminators: TerminatorRegistry;
}

const TOGETHER_MS = 10;
const MAX_IDS_PER_FRAME = 1_000;

export class LeavingCircuits {
  readonly #options: LeavingCircuitsOptions;
  readonly #terminatorIds = new Set<string>();
  readonly #routerIds = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LeavingCircuitsOptions) {
    this.#options = options;
    options.terminators.onChange(({ id, precedence }, change) => {
      const isLowered = change === 'changed' && precedence === Precedence.failed;
      if (isLowered || change === 'removed') this.#note(this.#terminatorIds, id);
    });
  }

  /** The router requested no new circuits. */
  onQuiesced(routerId: string): void {
    this.#note(this.#routerIds, routerId);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #note(ids: Set<string>, id: string): void {
    ids.add(id);
    this.#timer ??= setTimeout(() => this.#flush(), TOGETHER_MS).unref();
  }

  #flush(): void {
    this.#timer = undefined;
    const byIngress = new Map<string, string[]>();
    for (const { id, terminatorId, path } of this.#options.circuits.all()) {
      const [ingressId] = path.routerIds;
      const egressId = path.routerIds.at(-1)!;
      if (!this.#terminatorIds.has(terminatorId) && !this.#routerIds.has(egressId)) continue;
      const ids = byIngress.get(ingressId!);
      if (ids === undefined) byIngress.set(ingressId!, [id]);
      else ids.push(id);
    }
    this.#terminatorIds.clear();
    this.#routerIds.clear();
    for (const [routerId, ids] of byIngress) this.#notify(routerId, ids);
  }

  #notify(routerId: string, ids: readonly string[]): void {
    const router = this.#options.routers.get(routerId);
    if (router?.release === undefined) return;
    for (let at = 0; at < ids.length; at += MAX_IDS_PER_FRAME) {
      const body = ids.slice(at, at + MAX_IDS_PER_FRAME).join('\n');
      router.send(makeFrame(contentType.circuitsLeaving, { body }));
    }
  }
}
