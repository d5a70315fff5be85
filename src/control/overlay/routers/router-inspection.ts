/**
 * Diagnostics by name: requests those of routers, and answers requests of a router for those that concern itself.
 * Values are JSON texts on the wire.
 */
import { messageOf } from '#base';
import { contentType, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { isOnPath, type CircuitRegistry } from '../circuits/circuit-registry.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import type { InspectionView } from '../model/fabric-view.ts';
import type { LinkRegistry } from '../mesh/link-registry.ts';

const ANSWER_TIMEOUT_MS = 10_000;
/** OpenZiti's clients wait for 10 s, and then have not even the answers of others. */
const SELECTED_TIMEOUT_MS = 8_000;
const MAX_NAMES = 32;
const MAX_NAME_CHARACTERS = 256;
const MAX_ROUTERS_AT_ONCE = 64;

export interface RouterInspectionOptions {
  readonly routers: RouterRegistry;
  readonly links: LinkRegistry;
  readonly circuits: CircuitRegistry;
}

type Inspect = (router: ConnectedRouter) => unknown;

export class RouterInspection {
  readonly #options: RouterInspectionOptions;
  /** Names that routers may request, in lower case. */
  readonly #own: ReadonlyMap<string, Inspect>;

  constructor(options: RouterInspectionOptions) {
    this.#options = options;
    const { routers, links, circuits } = options;
    this.#own = new Map<string, Inspect>([
      [
        'connected-routers',
        () => [...routers.all()].map(({ id, version, connectedAtMs }) => ({ id, version, connectedAtMs })),
      ],
      ['links', ({ id }) => [...links.of(id)]],
      [
        'circuits',
        ({ id }) => [...circuits.all()].filter((each) => isOnPath(each, id)).map((each) => each.id),
      ],
    ]);
  }

  /**
   * Asks the router, or every connected one. Names that a router does not know are missing in the result. Never
   * rejects.
   */
  async inspect(names: readonly string[], routerId?: string): Promise<InspectionView[]> {
    const { routers } = this.#options;
    if (routerId !== undefined && routers.get(routerId) === undefined)
      return [{ routerId, name: '', error: 'the router is not connected' }];
    const selects = ({ id }: ConnectedRouter): boolean => routerId === undefined || id === routerId;
    return this.inspectSelected(names, selects, ANSWER_TIMEOUT_MS);
  }

  /** As `inspect`, every connected router that is selected. */
  async inspectSelected(
    names: readonly string[],
    selects: (router: ConnectedRouter) => boolean,
    timeoutMs = SELECTED_TIMEOUT_MS,
  ): Promise<InspectionView[]> {
    const asked = names.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_NAME_CHARACTERS));
    const found: InspectionView[] = [];
    const all = [...this.#options.routers.all()].filter(selects);
    for (let at = 0; at < all.length; at += MAX_ROUTERS_AT_ONCE) {
      const answers = await Promise.all(
        all.slice(at, at + MAX_ROUTERS_AT_ONCE).map((router) => ask(router, asked, timeoutMs)),
      );
      found.push(...answers.flat());
    }
    return found;
  }

  /** @throws FrontdoorError `protocol` */
  answer(router: ConnectedRouter, frame: Frame): void {
    const { requestedValues } = ctrlMessages.inspectRequest.decode(frame.body);
    const values = requestedValues.slice(0, MAX_NAMES).flatMap((name) => {
      const inspect = this.#own.get(name.toLowerCase());
      return inspect === undefined ? [] : [{ name, value: JSON.stringify(inspect(router)) }];
    });
    router.channel.reply(frame, ctrlMessages.inspectResponse.frame({ success: true, values }));
  }
}

async function ask(
  router: ConnectedRouter,
  names: readonly string[],
  timeoutMs: number,
): Promise<InspectionView[]> {
  const routerId = router.id;
  try {
    const request = ctrlMessages.inspectRequest.frame({ requestedValues: [...names] });
    const frame = await router.channel.request(request, timeoutMs);
    if (frame.contentType !== contentType.inspectResponse)
      return [{ routerId, name: '', error: 'the router does not know how to answer' }];
    const { values, errors } = ctrlMessages.inspectResponse.decode(frame.body);
    return [
      ...values.map(({ name, value }) => ({ routerId, name, value: valueOf(value) })),
      ...errors.map((error) => ({ routerId, name: '', error })),
    ];
  } catch (error) {
    return [{ routerId, name: '', error: messageOf(error) }];
  }
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
