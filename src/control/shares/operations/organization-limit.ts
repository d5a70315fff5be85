/**
 * Limits how much of some lasting work runs at once, in total and for each organization, so that none takes all of it. A process
 * may have several control planes, each with limits of its own.
 */
import { tooMany } from './api-errors.ts';

export interface OrganizationLimitOptions {
  readonly most: number;
  readonly mostOfOrganization: number;
  /** When a caller may try again. */
  readonly againSeconds: number;
}

export class OrganizationLimit {
  readonly #options: OrganizationLimitOptions;
  readonly #running = new WeakMap<object, string[]>();

  constructor(options: OrganizationLimitOptions) {
    this.#options = options;
  }

  /** `plane` is a part that only one control plane has. Returns what ends the work. Throws `tooMany`. */
  begin(plane: object, organizationId: string): () => void {
    const { most, mostOfOrganization, againSeconds } = this.#options;
    const running = this.#running.get(plane) ?? [];
    this.#running.set(plane, running);
    const own = running.filter((each) => each === organizationId).length;
    if (running.length >= most || own >= mostOfOrganization) throw tooMany(againSeconds);
    running.push(organizationId);
    return () => void running.splice(running.indexOf(organizationId), 1);
  }
}
