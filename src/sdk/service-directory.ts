/** Finds services of an identity by name. Services that were found are remembered, so that a dial asks nobody. */
import { FrontdoorError } from '#base';
import { CircuitError } from './circuit.ts';
import type { EdgeApiClient } from './edge-api-client.ts';
import type { EdgeService } from './edge-resources.ts';

export class ServiceDirectory {
  readonly #api: Pick<EdgeApiClient, 'serviceByName'>;
  readonly #byName = new Map<string, EdgeService>();

  constructor(api: Pick<EdgeApiClient, 'serviceByName'>) {
    this.#api = api;
  }

  /** Rejects with `service-unknown` if this identity may not do that with a service of this name. */
  async find(name: string, permission: 'Dial' | 'Bind'): Promise<EdgeService> {
    const known = this.#byName.get(name);
    if (known?.permissions.includes(permission) === true) return known;
    const found = await this.#api.serviceByName(name);
    if (found?.permissions.includes(permission) !== true) {
      const verb = permission === 'Dial' ? 'dial' : 'host';
      throw new FrontdoorError(
        'notFound',
        'service-unknown',
        `there is no service ${JSON.stringify(name)} that this identity may ${verb}`,
      );
    }
    this.#byName.set(name, found);
    return found;
  }

  /**
   * Finds the service to dial. If the dial is not authorized, another service may have the name now, and is dialed.
   * Rejects with `service-unknown`, or as `attempt` does.
   */
  async dial<T>(name: string, attempt: (service: EdgeService) => Promise<T>): Promise<T> {
    const service = await this.find(name, 'Dial');
    try {
      return await attempt(service);
    } catch (error) {
      if (!(error instanceof CircuitError) || error.code !== 'not-authorized') throw error;
      this.#byName.delete(name);
      const current = await this.find(name, 'Dial').catch((failure: unknown) => {
        throw failure instanceof FrontdoorError && failure.code === 'service-unknown' ? failure : error;
      });
      if (current.id === service.id) throw error;
      return attempt(current);
    }
  }

  forgetAll(): void {
    this.#byName.clear();
  }
}
