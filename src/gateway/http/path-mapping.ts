/** Where the paths of a share are at its service: what is below one path there is below another here. ADR 0092. */
import { isBelow } from '#domain';

const END_OF_PATH = /[?#]/;

export class PathMapping {
  readonly #service: string;

  /** `service`: `/app`, in canonical form. */
  constructor(service: string) {
    this.#service = service;
  }

  /** `target` may have a query. One without a path stays as it is. */
  toService(target: string): string {
    return target.startsWith('/') ? this.#service + target : target;
  }

  /** Returns undefined for an address outside the service's path. */
  toShare(address: string): string | undefined {
    const end = address.search(END_OF_PATH);
    const path = end === -1 ? address : address.slice(0, end);
    if (!isBelow(path, this.#service)) return undefined;
    const rest = address.slice(this.#service.length);
    return rest.startsWith('/') ? rest : `/${rest}`;
  }
}
