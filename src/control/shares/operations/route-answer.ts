/** The path that a circuit would take, with the reason for each terminator of the service. */
import type { FabricRouteAnswer } from '#contract/schemas';
import type { RouteCandidate, RouteView } from '../../overlay/mod.ts';

type CandidateAnswer = FabricRouteAnswer['candidates'][number];

const RANKS = { required: 0, default: 1, failed: 2 } as const;

export function routeAnswer(
  place: { readonly routerId: string; readonly serviceId: string },
  route: RouteView,
  nameOf: (routerId: string) => string,
): FabricRouteAnswer {
  const { serviceName, strategy, candidates, chosenId, problem } = route;
  const chosen = candidates.find(({ terminator }) => terminator.id === chosenId);
  const answers = candidates.map((each): CandidateAnswer => {
    const { id, routerId, cost, dynamicCost, isHealthy } = each.terminator;
    return {
      terminatorId: id,
      routerId,
      routerName: nameOf(routerId),
      routerIds: [...(each.path?.routerIds ?? [])],
      pathCost: each.path?.cost ?? null,
      terminatorCost: cost + dynamicCost,
      precedence: each.precedence,
      healthy: isHealthy,
      chosen: each === chosen,
      reason: reasonOf(each, chosen, strategy),
    };
  });
  const routerIds = [...(chosen?.path?.routerIds ?? [])];
  return {
    ...place,
    serviceName,
    terminatorStrategy: strategy,
    terminatorId: chosenId ?? null,
    routerIds,
    routerNames: routerIds.map(nameOf),
    linkIds: [...(chosen?.path?.linkIds ?? [])],
    cost: chosen?.cost ?? null,
    reason:
      chosen === undefined
        ? (problem ?? 'the service has no terminators')
        : reasonOf(chosen, chosen, strategy),
    candidates: answers.sort((a, b) => Number(b.chosen) - Number(a.chosen)),
  };
}

function reasonOf(
  candidate: RouteCandidate,
  chosen: RouteCandidate | undefined,
  strategy: RouteView['strategy'],
): string {
  const { path, precedence, cost = 0, terminator } = candidate;
  if (path === undefined) return 'no usable links lead to its router';
  if (chosen === undefined) return 'it is not selected';
  if (candidate === chosen) return chosenBy(strategy);
  if (!terminator.isHealthy && chosen.terminator.isHealthy) return 'it is not healthy, and others are';
  if (RANKS[precedence] > RANKS[chosen.precedence])
    return `its precedence is ${precedence}, and others have ${chosen.precedence}`;
  if (strategy === 'random') return 'the strategy random selects any of these';
  if (strategy === 'weighted') return 'the strategy weighted selects lower costs more often';
  if (strategy === 'ha') return 'the strategy ha keeps to one terminator until it fails';
  const more = cost - (chosen.cost ?? 0);
  return more === 0 ? 'it costs the same, and one of these is drawn' : `it costs ${more} more`;
}

function chosenBy(strategy: RouteView['strategy']): string {
  switch (strategy) {
    case 'random':
      return 'it is one of those with the best health and precedence, from which the strategy random draws';
    case 'weighted':
      return 'it is one of those with the best health and precedence, of which the strategy weighted prefers the cheaper';
    case 'ha':
      return 'the strategy ha keeps to it until it fails';
    default:
      return 'it is the cheapest of those with the best health and precedence';
  }
}
