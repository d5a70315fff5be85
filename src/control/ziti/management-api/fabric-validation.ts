/**
 * `ziti fabric validate`: compares this control plane with the routers or terminators that a filter selects. The request has
 * an answer with their number at once, and then a result for each.
 */
import { asReplyTo, contentType, type Frame } from '#wire';
import { mgmtMessages } from '#wire/ctrl';
import { selectedOf } from '../query/entity-list.ts';
import type { QuerySymbols } from '../query/query-symbol.ts';
import type { ComparedRouter, EdgeEntityRecord, RouterComparison } from '../../overlay/model/mod.ts';
import type { ManagedOverlay, ManagementParts } from './entity-resource.ts';
import { terminatorResource } from './terminator-resource.ts';
import { transitRouterResource } from './transit-router-resource.ts';

/** At once, in all. */
const MAX_RUNNING = 4;
/** Bounds one validation, in which each router that does not answer takes 8 s. */
const MAX_ROUTERS_AT_ONCE = 10;

/** Takes the answer and then each result. Returns false once nobody wants more. */
export type ValidationReader = (frame: Frame) => boolean;

type ValidationName = 'RouterLinks' | 'SdkTerminators' | 'TunnelTerminators' | 'Circuits' | 'Connections';

const COMPARISONS: readonly (readonly [ValidationName, RouterComparison])[] = [
  ['RouterLinks', 'links'],
  ['SdkTerminators', 'sdkTerminators'],
  ['TunnelTerminators', 'tunnelTerminators'],
  ['Circuits', 'circuits'],
  ['Connections', 'connections'],
];

interface Selection {
  readonly count: number;
  readonly results: () => AsyncGenerator<Frame, void>;
}

/** The reason of a refusal, or what was selected. */
type Selected = Selection | string;

interface Row {
  readonly select: (body: Uint8Array) => Promise<Selected>;
  readonly answer: (success: boolean, message: string, count: number) => Frame;
}

export class FabricValidations {
  readonly #parts: ManagementParts;
  readonly #rows: ReadonlyMap<number, Row>;
  #running = 0;

  constructor(parts: ManagementParts) {
    this.#parts = parts;
    const rows = new Map<number, Row>();
    for (const [name, comparison] of COMPARISONS) {
      const request = mgmtMessages[`validate${name}Request`];
      rows.set(request.contentType, {
        select: (body) =>
          this.#routers(request.decode(body).filter, (router) =>
            this.#validation.compareRouter(comparison, router),
          ),
        answer: routersAnswer(`validate${name}Response`),
      });
    }
    rows.set(contentType.validateDataModelRequest, {
      select: (body) => this.#dataModels(body),
      answer: routersAnswer('validateDataModelResponse'),
    });
    rows.set(contentType.validateTerminatorsRequest, {
      select: (body) => this.#terminators(body),
      answer: (success, message, count) =>
        mgmtMessages.validateTerminatorsResponse.frame({ success, message, terminatorCount: BigInt(count) }),
    });
    this.#rows = rows;
  }

  get #validation(): ManagedOverlay['diagnostics']['validation'] {
    return this.#parts.overlay.diagnostics.validation;
  }

  /**
   * Resolves when the reader has everything, or with false for other requests. Rejects with a FrontdoorError `protocol` for a
   * malformed body.
   */
  async run(request: Frame, read: ValidationReader): Promise<boolean> {
    const row = this.#rows.get(request.contentType);
    if (row === undefined) return false;
    if (this.#running >= MAX_RUNNING) {
      read(this.#refusal(request, row, 'other validations are running'));
      return true;
    }
    this.#running += 1;
    try {
      const selected = await row.select(request.body);
      if (typeof selected === 'string') read(this.#refusal(request, row, selected));
      else if (read(asReplyTo(request, row.answer(true, '', selected.count))))
        for await (const frame of selected.results()) if (!read(frame)) break;
    } finally {
      this.#running -= 1;
    }
    return true;
  }

  #refusal(request: Frame, row: Row, problem: string): Frame {
    return asReplyTo(request, row.answer(false, `${this.#parts.overlay.controllerId}: ${problem}`, 0));
  }

  async #routers(filter: string, compare: (router: ComparedRouter) => Promise<Frame>): Promise<Selected> {
    const all = await transitRouterResource.all(this.#parts);
    const selected = selectedOf(all, filter, transitRouterResource.form.symbols);
    if ('problem' in selected) return selected.problem;
    const routers = selected.found.map(({ id, name }) => ({ id, name }));
    return { count: routers.length, results: () => eachOf(routers, compare) };
  }

  async #dataModels(body: Uint8Array): Promise<Selected> {
    const { routerFilter, validateCtrl, fix } = mgmtMessages.validateDataModelRequest.decode(body);
    const validation = this.#validation;
    const selected = await this.#routers(routerFilter, (router) => validation.compareDataModel(router, fix));
    if (typeof selected === 'string' || !validateCtrl) return selected;
    const results = async function* (): AsyncGenerator<Frame, void> {
      yield validation.ownDataModel();
      yield* selected.results();
    };
    return { count: selected.count + 1, results };
  }

  async #terminators(body: Uint8Array): Promise<Selected> {
    const { filter, fixInvalid } = mgmtMessages.validateTerminatorsRequest.decode(body);
    const all = await terminatorResource.all(this.#parts);
    const selected = selectedOf(all, filter, this.#terminatorSymbols());
    if ('problem' in selected) return selected.problem;
    const ids = selected.found.map(({ id }) => id);
    const validation = this.#validation;
    const results = async function* (): AsyncGenerator<Frame, void> {
      yield* validation.validateTerminators(ids, fixInvalid);
    };
    return { count: ids.length, results };
  }

  #terminatorSymbols(): QuerySymbols<EdgeEntityRecord> {
    const { model } = this.#parts;
    const nameOf = (field: string, read: (id: string) => string | undefined) =>
      ({
        type: 'text',
        read: ({ data }: EdgeEntityRecord) => read(String(data[field])) ?? null,
      }) as const;
    return {
      ...terminatorResource.form.symbols,
      'service.name': nameOf('service', (id) => model.serviceName(id)),
      'router.name': nameOf('router', (id) => model.identity(id)?.name),
    };
  }
}

function routersAnswer(name: `validate${ValidationName | 'DataModel'}Response`): Row['answer'] {
  return (success, message, count) => mgmtMessages[name].frame({ success, message, count: BigInt(count) });
}

async function* eachOf(
  routers: readonly ComparedRouter[],
  compare: (router: ComparedRouter) => Promise<Frame>,
): AsyncGenerator<Frame, void> {
  for (let at = 0; at < routers.length; at += MAX_ROUTERS_AT_ONCE)
    yield* await Promise.all(routers.slice(at, at + MAX_ROUTERS_AT_ONCE).map(compare));
}
