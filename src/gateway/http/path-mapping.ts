/** Where the paths of a share are at its service: what is below one path there is below another here. ADR 0092. */
import { canonicalPath, isBelow, pathOfTarget } from '#domain';

const END_OF_PATH = /[?#]/;

export class PathMapping {
  readonly #share: string;
  readonly #service: string;

  /** Paths in canonical form, such as `/app`; '' is that of everything. */
  constructor(share: string, service: string) {
    this.#share = share;
    this.#service = service;
  }

  /** `target` may have a query. One that is not below the path of the share stays as it is. */
  toService(target: string): string {
    if (!target.startsWith('/')) return target;
    const path = pathOfTarget(target);
    // The same path has several spellings, and only the canonical one begins with that of the setting.
    const spelled = isBelow(path, this.#share) ? path : (canonicalPath(path) ?? path);
    if (!isBelow(spelled, this.#share)) return target;
    return begun(this.#service + spelled.slice(this.#share.length)) + target.slice(path.length);
  }

  /** Returns undefined for an address outside the service's path. */
  toShare(address: string): string | undefined {
    const end = address.search(END_OF_PATH);
    const path = end === -1 ? address : address.slice(0, end);
    if (!isBelow(path, this.#service)) return undefined;
    return begun(this.#share + address.slice(this.#service.length));
  }
}

function begun(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
