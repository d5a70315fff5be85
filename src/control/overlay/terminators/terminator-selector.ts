/**
 * Selects the terminator of a dial among those of the service that a path leads to, by the service's strategy.
 * Keeps the results of dials: costs, and terminators that their routers cannot use. Those that a router does not know are
 * validated, because the failed dial alone does not show that the present bind is gone.
 */
import type { Log } from '#base';
import { RouteErrorCode } from '#wire/circuits';
import type { TerminatorStrategy } from '#domain';
import type { RouterRegistry } from '../mesh/connected-router.ts';
import type { PathFinder } from '../mesh/path-finder.ts';
import type { CircuitPath } from '../mesh/path-policy.ts';
import { chooseTerminator, type Candidate } from './terminator-choice-policy.ts';
import type { TerminatorCosts } from './terminator-costs.ts';
import type { TerminatorValidation } from './terminator-validation.ts';
import { isHosted, Precedence, type Terminator, type TerminatorRegistry } from './terminator-registry.ts';

export interface DialedService {
  readonly id: string;
  readonly name: string;
  /** Only fabric services have a strategy; shares use `smartrouting`. */
  readonly terminatorStrategy?: TerminatorStrategy;
}

export interface TerminatorSelectorOptions {
  readonly terminators: TerminatorRegistry;
  readonly routers: RouterRegistry;
  readonly paths: PathFinder;
  readonly costs: TerminatorCosts;
  readonly validation: Pick<TerminatorValidation, 'doubt'>;
  readonly log: Log;
  /** Returns 0 <= x < 1. */
  readonly random?: (() => number) | undefined;
}

export interface Selection {
  readonly service: DialedService;
  /** The dialed address. Empty: a terminator without one. */
  readonly instanceId: string;
  readonly ingressId: string;
  /** The terminator of an earlier attempt. */
  readonly failed: Terminator | undefined;
}

export interface Selected {
  readonly terminator: Terminator;
  readonly path: CircuitPath;
  /** Whether a second attempt could be at another terminator. */
  readonly hasOther: boolean;
}

type Choice = Candidate & Omit<Selected, 'hasOther'>;

export interface Explanation {
  /** A terminator without a choice cannot be reached. */
  readonly candidates: readonly {
    readonly terminator: Terminator;
    readonly choice: Choice | undefined;
  }[];
  readonly chosen: Choice | undefined;
  readonly problem: string | undefined;
}

export class TerminatorSelector {
  readonly #options: TerminatorSelectorOptions;
  readonly #random: () => number;

  constructor(options: TerminatorSelectorOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    const { costs, terminators } = options;
    terminators.onChange(({ id }, change) => {
      if (change === 'removed') costs.forget(id);
    });
  }

  /** Returns a text if there is no usable terminator. */
  select(selection: Selection): Selected | string {
    const { costs, terminators } = this.#options;
    const { service } = selection;
    const hosts = terminators.ofService(service.id);
    const choices: Choice[] = [];
    let count = 0;
    let awayRouterId = '';
    for (const terminator of hosts.values()) {
      if (terminator.instanceId !== selection.instanceId) continue;
      count += 1;
      const choice = this.#choiceOf(terminator, selection);
      if (choice === undefined) awayRouterId = terminator.routerId;
      else choices.push(choice);
    }
    const strategy = service.terminatorStrategy;
    const chosen = chooseTerminator(choices, this.#random, strategy);
    if (chosen === undefined) return this.#nowhere(selection, hosts.size, count, awayRouterId);
    // A second attempt does not change the active terminator.
    if (strategy === 'ha' && selection.failed === undefined)
      costs.setActive(service.id, chosen.terminator.id);
    return { terminator: chosen.terminator, path: chosen.path, hasOther: choices.length > 1 };
  }

  /** Returns what a dial would select, and from which terminators, without a dial. */
  explain(selection: Omit<Selection, 'failed'>): Explanation {
    const { service, instanceId, ingressId } = selection;
    const hosts = this.#options.terminators.ofService(service.id);
    const candidates = [...hosts.values()]
      .filter((terminator) => terminator.instanceId === instanceId)
      .map((terminator) => ({
        terminator,
        choice: this.#choiceOf(terminator, { ...selection, failed: undefined }),
      }));
    const choices = candidates.flatMap(({ choice }) => choice ?? []);
    const chosen = chooseTerminator(choices, () => 0, service.terminatorStrategy);
    if (chosen !== undefined) return { candidates, chosen, problem: undefined };
    const away = candidates.at(-1)?.terminator.routerId ?? '';
    const whole = { service, instanceId, ingressId, failed: undefined };
    const problem = this.#nowhere(whole, hosts.size, candidates.length, away);
    return { candidates, chosen, problem };
  }

  onDialed({ id }: Terminator): void {
    const { costs, terminators } = this.#options;
    if (terminators.get(id) !== undefined) costs.onDialed(id);
  }

  /** Whether the terminator is still that of the bind with this marker. */
  isCurrent({ id }: Terminator, marker: bigint): boolean {
    return this.#options.terminators.get(id)?.marker === marker;
  }

  /** `errorCode` is that of the router's response. */
  onFailure(terminator: Terminator, errorCode: number, nowMs: number): void {
    const { costs, log, terminators, validation } = this.#options;
    const { id, routerId } = terminator;
    const known = terminators.get(id);
    if (known === undefined) return;
    costs.onDialFailed(id, nowMs);
    const isUnknown = errorCode === RouteErrorCode.invalidTerminator;
    if (!isUnknown && errorCode !== RouteErrorCode.misconfiguredTerminator) return;
    if (!isHosted(known)) {
      terminators.setHealth(known, false);
      log.warn(
        { terminator: id, router: routerId },
        'terminator failed at its router; others have precedence now',
      );
      return;
    }
    if (isUnknown) {
      validation.doubt(known);
      return;
    }
    terminators.update(known, { precedence: Precedence.failed }).catch((error: unknown) => {
      log.warn({ err: error, terminator: id }, 'terminator could not be changed in the store');
    });
  }

  /** Returns its cost without that of the path. */
  dynamicCost({ id }: Terminator): number {
    return this.#options.costs.dynamicCost(id);
  }

  #choiceOf(terminator: Terminator, { ingressId, service, failed }: Selection): Choice | undefined {
    const { paths, costs, routers } = this.#options;
    const { id, routerId } = terminator;
    const path = paths.find(ingressId, routerId);
    if (path === undefined) return undefined;
    const isQuiesced = routers.isQuiesced(routerId);
    return {
      terminator,
      path,
      precedence: isQuiesced ? Precedence.failed : terminator.precedence,
      cost: terminator.cost + costs.dynamicCost(id) + path.cost,
      isHealthy: terminator.isHealthy,
      hasFailed: failed?.id === id,
      failuresInARow: costs.failuresInARow(id),
      isActive: costs.isActive(service.id, id),
    };
  }

  /** `hostCount` counts all terminators of the service, `count` those with the address that was dialed. */
  #nowhere(
    { service, instanceId, ingressId }: Selection,
    hostCount: number,
    count: number,
    awayRouterId: string,
  ): string {
    if (count > 0) {
      return `service ${service.name} is hosted at router ${awayRouterId}, which router ${ingressId} cannot reach`;
    }
    // OpenZiti's words, for clients that show or compare them.
    if (hostCount > 0) return `service ${service.id} has no terminators for instanceId ${instanceId}`;
    if (service.terminatorStrategy === undefined)
      return `service ${service.name} has no terminators: no agent hosts it now`;
    return `service ${service.name} has no terminators`;
  }
}
