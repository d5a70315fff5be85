/**
 * Dynamic costs of terminators, counted like OpenZiti's strategies: each circuit adds a little, each failed dial
 * much more, which successes reduce slowly and time reduces at an increasing rate. Also the active terminator of
 * services whose strategy requires one.
 */
const CIRCUIT_COST = 2;
const FAILURE_COST = 20;
const SUCCESS_CREDIT = 2;
const CREDIT_EVERY_MS = 60_000;
const MIN_CREDIT = 10;
/** The credit doubles after each such interval without a failure. */
const CREDIT_DOUBLES_MS = 300_000;
const MAX_DYNAMIC_COST = 65_535;
const MAX_FAILURE_COST = 1_000_000;

interface Costs {
  circuits: number;
  failureCost: number;
  failuresInARow: number;
  lastFailureMs: number;
}

export class TerminatorCosts {
  /** For terminators that are or were used; an entry is removed with its terminator. */
  readonly #costs = new Map<string, Costs>();
  /** By service. */
  readonly #active = new Map<string, string>();
  #nextCreditMs = 0;

  dynamicCost(terminatorId: string): number {
    const costs = this.#costs.get(terminatorId);
    if (costs === undefined) return 0;
    return Math.min(MAX_DYNAMIC_COST, costs.circuits * CIRCUIT_COST + costs.failureCost);
  }

  /** For diagnostics, with OpenZiti's names. */
  *all(): Generator<Readonly<Record<string, string | number>>> {
    for (const [terminatorId, { circuits, failureCost }] of this.#costs)
      yield {
        terminatorId,
        circuitCount: circuits,
        failureCost,
        currentCost: this.dynamicCost(terminatorId),
      };
  }

  failuresInARow(terminatorId: string): number {
    return this.#costs.get(terminatorId)?.failuresInARow ?? 0;
  }

  isActive(serviceId: string, terminatorId: string): boolean {
    return this.#active.get(serviceId) === terminatorId;
  }

  setActive(serviceId: string, terminatorId: string): void {
    this.#active.set(serviceId, terminatorId);
  }

  onDialed(terminatorId: string): void {
    const costs = this.#of(terminatorId);
    costs.failureCost = Math.max(0, costs.failureCost - SUCCESS_CREDIT);
    costs.failuresInARow = 0;
    costs.circuits += 1;
  }

  onDialFailed(terminatorId: string, nowMs: number): void {
    const costs = this.#of(terminatorId);
    costs.failureCost = Math.min(MAX_FAILURE_COST, costs.failureCost + FAILURE_COST);
    costs.failuresInARow += 1;
    costs.lastFailureMs = nowMs;
  }

  onCircuitEnded(terminatorId: string): void {
    const costs = this.#costs.get(terminatorId);
    if (costs !== undefined && costs.circuits > 0) costs.circuits -= 1;
  }

  forget(terminatorId: string): void {
    this.#costs.delete(terminatorId);
  }

  forgetService(serviceId: string): void {
    this.#active.delete(serviceId);
  }

  tick(nowMs: number): void {
    const isDue = this.#nextCreditMs !== 0 && nowMs >= this.#nextCreditMs;
    if (isDue || this.#nextCreditMs === 0) this.#nextCreditMs = nowMs + CREDIT_EVERY_MS;
    if (!isDue) return;
    for (const costs of this.#costs.values()) {
      if (costs.failureCost === 0) continue;
      const doublings = Math.floor((nowMs - costs.lastFailureMs) / CREDIT_DOUBLES_MS);
      costs.failureCost = Math.max(0, costs.failureCost - Math.max(MIN_CREDIT, 2 ** doublings));
      // The failures are long ago, so the terminator may be tried again.
      if (costs.failureCost === 0) costs.failuresInARow = 0;
    }
  }

  #of(terminatorId: string): Costs {
    let costs = this.#costs.get(terminatorId);
    if (costs === undefined) {
      costs = { circuits: 0, failureCost: 0, failuresInARow: 0, lastFailureMs: 0 };
      this.#costs.set(terminatorId, costs);
    }
    return costs;
  }
}
