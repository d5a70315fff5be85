/** Inspections of the mesh as `ziti fabric inspect` asks for them: of this control plane and of the routers connected to it. */
import { shortPatternOf } from '#base/shapes';
import { waitingResourcesText } from '#net';
import type { ManagementParts } from './entity-resource.ts';

const MAX_NAMES = 32;
const MAX_NAME_CHARS = 256;
/** Inspections at once, in all. */
const MAX_RUNNING = 4;

export interface FabricInspectionWish {
  readonly appRegex: unknown;
  readonly requestedValues: unknown;
}

export interface InspectedFabric {
  readonly success: boolean;
  readonly errors: readonly string[];
  readonly values: readonly { readonly appId: string; readonly name: string; readonly value: unknown }[];
}

export class FabricInspection {
  readonly #parts: ManagementParts;
  #running = 0;

  constructor(parts: ManagementParts) {
    this.#parts = parts;
  }

  /** Never rejects for what a router answers. A request that is refused is an error in the result, as is one too many. */
  async inspect({ appRegex, requestedValues }: FabricInspectionWish): Promise<InspectedFabric> {
    const { controllerId } = this.#parts.overlay;
    const selects = shortPatternOf(appRegex);
    if (typeof selects === 'string') return refused(controllerId, `the expression ${selects}`);
    const names = namesOf(requestedValues);
    if (names === undefined)
      return refused(controllerId, `requestedValues is no list of 1 to ${MAX_NAMES} names`);
    if (this.#running >= MAX_RUNNING) return refused(controllerId, 'other inspections are running');
    this.#running += 1;
    try {
      return await this.#inspect(selects, names);
    } finally {
      this.#running -= 1;
    }
  }

  async #inspect(selects: (text: string) => boolean, names: readonly string[]): Promise<InspectedFabric> {
    const { controllerId, diagnostics } = this.#parts.overlay;
    const own = selects(controllerId) ? names : [];
    const values: InspectedFabric['values'][number][] = own.flatMap((name) => {
      const value = this.#ownValue(name.toLowerCase());
      return value === undefined ? [] : [{ appId: controllerId, name, value }];
    });
    const errors: string[] = [];
    for (const { routerId: appId, name, value, error } of await diagnostics.inspectSelected(names, selects)) {
      if (error === undefined) values.push({ appId, name, value });
      else errors.push(`${appId}: ${error}`);
    }
    return { success: errors.length === 0, errors, values };
  }

  #ownValue(name: string): unknown {
    if (name === 'stackdump') return waitingResourcesText();
    if (name === 'config') return this.#config();
    if (name !== 'connected-peers' || !this.#parts.store.isShared) return undefined;
    return this.#parts.addresses.controllers().map(({ id, apiUrls, isOnline }) => ({
      Id: id,
      Addr: apiUrls[0] ?? '',
      Connected: isOnline,
    }));
  }

  /** Without secrets: addresses, and what clients of OpenZiti can find out. */
  #config(): object {
    const { controllerId, ctrlAddress } = this.#parts.overlay;
    const { interceptDomain, apiUrl } = this.#parts.addresses;
    return { id: controllerId, ctrl: { advertise: ctrlAddress }, edge: { api: apiUrl() }, interceptDomain };
  }
}

function namesOf(values: unknown): readonly string[] | undefined {
  if (!Array.isArray(values) || values.length === 0 || values.length > MAX_NAMES) return undefined;
  const isName = (value: unknown): value is string =>
    typeof value === 'string' && value !== '' && value.length <= MAX_NAME_CHARS;
  return values.every(isName) ? values : undefined;
}

function refused(controllerId: string, problem: string): InspectedFabric {
  return { success: false, errors: [`${controllerId}: ${problem}`], values: [] };
}
