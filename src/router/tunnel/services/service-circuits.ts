/** The open circuits of each service that end at this router, so that they can be ended when a policy forbids them. */
import type { LocalConnection, XgressEnd } from '../../xgress/xgress-end.ts';

export class ServiceCircuits {
  readonly #ends = new Map<string, Set<XgressEnd>>();

  /** Keeps the end until its connection closes. */
  keep(serviceId: string, end: XgressEnd, connection: LocalConnection): void {
    let ends = this.#ends.get(serviceId);
    if (ends === undefined) this.#ends.set(serviceId, (ends = new Set()));
    const kept = ends;
    kept.add(end);
    connection.once('close', () => {
      kept.delete(end);
      if (kept.size === 0 && this.#ends.get(serviceId) === kept) this.#ends.delete(serviceId);
    });
  }

  count(serviceId: string): number {
    return this.#ends.get(serviceId)?.size ?? 0;
  }

  /** Ends all circuits of the service. */
  end(serviceId: string, reason: string): void {
    for (const end of [...(this.#ends.get(serviceId) ?? [])]) end.destroy(reason);
  }
}
