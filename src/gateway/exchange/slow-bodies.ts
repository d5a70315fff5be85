/**
 * The request bodies whose clients are slow at present. Phones sleep and disks are slow, so that each may be slow for a while, but
 * only so many. When an address, or all together, have more than their part, those that were never fast are cut, as are further
 * ones for a while; then those that have been slow for longest. Bodies that are fast are in no list.
 */
import type { GatewayLimits } from '../limits/gateway-limits.ts';

/** A body that is slow. */
export interface SlowBody {
  readonly address: string;
  /** Whether it was fast for a whole window before. */
  readonly wasFast: boolean;
  /** Ends the body with the next sweep. */
  cut(): void;
}

type SlowBodyLimits = Pick<GatewayLimits, 'slowBodyMs' | 'maxSlowBodies' | 'maxSlowBodiesPerAddress'>;

/** Addresses without slow bodies, which are kept while they are under pressure, before the list is cleaned. */
const MAX_EMPTY = 256;

export class SlowBodies {
  /** How many were cut because there were too many. */
  cutCount = 0;
  readonly #limits: SlowBodyLimits;
  readonly #all: Part;
  readonly #byAddress = new Map<string, Part>();

  constructor(limits: SlowBodyLimits) {
    this.#limits = limits;
    this.#all = new Part(limits.maxSlowBodies);
  }

  get count(): number {
    return this.#all.bodies.size;
  }

  /** May cut this body or others. */
  join(body: SlowBody, nowMs: number): void {
    const { slowBodyMs, maxSlowBodiesPerAddress } = this.#limits;
    this.#clean(nowMs);
    let own = this.#byAddress.get(body.address);
    if (own === undefined) {
      own = new Part(maxSlowBodiesPerAddress);
      this.#byAddress.set(body.address, own);
    }
    for (const part of [own, this.#all]) part.bodies.add(body);
    for (const part of [own, this.#all])
      for (const surplus of part.surplus(body, nowMs, slowBodyMs)) {
        this.cutCount += 1;
        this.leave(surplus);
        surplus.cut();
      }
  }

  leave(body: SlowBody): void {
    this.#all.bodies.delete(body);
    this.#byAddress.get(body.address)?.bodies.delete(body);
  }

  #clean(nowMs: number): void {
    if (this.#byAddress.size <= this.#all.bodies.size + MAX_EMPTY) return;
    for (const [address, { bodies, pressedUntilMs }] of this.#byAddress)
      if (bodies.size === 0 && nowMs >= pressedUntilMs) this.#byAddress.delete(address);
  }
}

/** The slow bodies of an address, or all, those first that have been slow for longest. */
class Part {
  readonly bodies = new Set<SlowBody>();
  pressedUntilMs = -Infinity;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Those that have to go because `latest` came. */
  surplus(latest: SlowBody, nowMs: number, pressureMs: number): readonly SlowBody[] {
    const wasPressed = nowMs < this.pressedUntilMs;
    const isTooMany = this.bodies.size > this.#most;
    if (isTooMany) this.pressedUntilMs = nowMs + pressureMs;
    if (!isTooMany && !wasPressed) return [];
    const judged = wasPressed ? [latest] : [...this.bodies];
    const surplus = judged.filter(({ wasFast }) => !wasFast);
    if (surplus.length > 0 || !isTooMany) return surplus;
    const [slowest] = this.bodies;
    return slowest === undefined ? [] : [slowest];
  }
}
