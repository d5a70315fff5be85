/** Follows the list of services by the mark of the control plane that changes with it. */
import { isDeepStrictEqual } from 'node:util';
import { messageOf, type Log } from '#base';
import type { EdgeApiClient } from '../edge-api-client.ts';
import type { ListedService } from './listed-service.ts';

export interface ServicesChange {
  readonly added: readonly ListedService[];
  readonly changed: readonly ListedService[];
  /** As they were before. */
  readonly removed: readonly ListedService[];
}

export interface ServiceWatchOptions {
  readonly api: Pick<EdgeApiClient, 'serviceUpdates' | 'services'>;
  readonly intervalMs: number;
  readonly log: Log;
  onChange(change: ServicesChange): void;
}

export class ServiceWatch {
  readonly #options: ServiceWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #mark: string | undefined;
  #known: ReadonlyMap<string, ListedService> | undefined;

  /** Starts at once. Changes are reported relative to the first list. */
  constructor(options: ServiceWatchOptions) {
    this.#options = options;
    void this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { api, intervalMs, log } = this.#options;
    try {
      const mark = await api.serviceUpdates();
      if (!this.#isStopped && mark !== this.#mark) {
        this.#compare(await api.services());
        this.#mark = mark;
      }
    } catch (error) {
      log.debug({ err: messageOf(error) }, 'the services cannot be followed at the moment');
    }
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#look(), intervalMs);
  }

  #compare(services: readonly ListedService[]): void {
    const former = this.#known;
    const current = new Map(services.map((service) => [service.id, service]));
    this.#known = current;
    if (former === undefined || this.#isStopped) return;
    const change = {
      added: services.filter(({ id }) => !former.has(id)),
      changed: services.filter(
        (service) => former.has(service.id) && !isDeepStrictEqual(former.get(service.id), service),
      ),
      removed: [...former.values()].filter(({ id }) => !current.has(id)),
    };
    if (Object.values(change).some(({ length }) => length > 0)) this.#options.onChange(change);
  }
}
