/** The links between routers, as the dialing routers report them, and which one joins two routers best. */
import type { Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { ConnectedRouter } from './connected-router.ts';

export interface Link {
  readonly id: string;
  readonly sourceId: string;
  readonly destinationId: string;
  readonly iteration: number;
}

const MAX_LINKS_PER_ROUTER = 10_000;

export class LinkRegistry {
  readonly #links = new Map<string, Link>();
  readonly #bySource = new Map<string, Set<string>>();

  /** @throws FrontdoorError `protocol` */
  onReport(router: ConnectedRouter, frame: Frame): void {
    const { links, fullRefresh } = ctrlMessages.routerLinks.decode(frame.body);
    if (fullRefresh) this.removeOf(router.id);
    for (const { id, destRouterId, iteration } of links) {
      const known = this.#links.get(id);
      // Another router's link of the same id stays: reports are about own links only.
      if (
        id === '' ||
        (known !== undefined && (known.sourceId !== router.id || known.iteration >= iteration))
      )
        continue;
      const own = this.#idsOf(router.id);
      if (own.size >= MAX_LINKS_PER_ROUTER) break;
      own.add(id);
      this.#links.set(id, { id, sourceId: router.id, destinationId: destRouterId, iteration });
    }
  }

  /** A link's end is gone; returns it when it was known and `routerId` is at one end of it. */
  remove(id: string, routerId: string, iteration: number): Link | undefined {
    const link = this.#links.get(id);
    if (link === undefined || (link.sourceId !== routerId && link.destinationId !== routerId))
      return undefined;
    if (iteration !== 0 && iteration < link.iteration) return undefined;
    this.#links.delete(id);
    this.#bySource.get(link.sourceId)?.delete(id);
    return link;
  }

  /** The reporting router is gone: its reports too. */
  removeOf(routerId: string): void {
    for (const id of this.#bySource.get(routerId) ?? []) this.#links.delete(id);
    this.#bySource.delete(routerId);
  }

  /** A link between the two, whichever dialed it. */
  between(a: string, b: string): Link | undefined {
    return this.#from(a, b) ?? this.#from(b, a);
  }

  #from(sourceId: string, destinationId: string): Link | undefined {
    for (const id of this.#bySource.get(sourceId) ?? []) {
      const link = this.#links.get(id);
      if (link?.destinationId === destinationId) return link;
    }
    return undefined;
  }

  #idsOf(sourceId: string): Set<string> {
    let ids = this.#bySource.get(sourceId);
    if (ids === undefined) this.#bySource.set(sourceId, (ids = new Set()));
    return ids;
  }
}
