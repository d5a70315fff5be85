/**
 * The way of a request to the service of a share, and which part of it is broken, as far as the measured states of share and
 * agent show it. Pure.
 */

export type HopKind = 'gateway' | 'machine' | 'router' | 'agent' | 'target';
/** `unmeasured`: nothing says whether it works. `waiting`: it is measured soon. `closed`: it refuses everyone. */
export type HopState = 'works' | 'broken' | 'unmeasured' | 'waiting' | 'closed';

export interface ShareHop {
  readonly kind: HopKind;
  readonly state: HopState;
}

/** `agentStatus`: undefined while it is not known. States of a newer API leave the hops unmeasured. */
export function wayOf(
  share: {
    readonly status: string;
    readonly shareMode: string;
    readonly access: { readonly admits: string };
  },
  agentStatus: string | undefined,
): readonly ShareHop[] {
  const [router, agent, target] = statesOf(share.status, agentStatus);
  return [
    // The measurement begins at the router.
    {
      kind: share.shareMode === 'private' ? 'machine' : 'gateway',
      state: share.access.admits === 'nobody' ? 'closed' : 'unmeasured',
    },
    { kind: 'router', state: router },
    { kind: 'agent', state: agent },
    { kind: 'target', state: target },
  ];
}

/** A connected agent has a channel to a router, so that both work. */
function statesOf(
  status: string,
  agentStatus: string | undefined,
): readonly [router: HopState, agent: HopState, target: HopState] {
  if (status === 'DEPLOYED') return ['works', 'works', 'works'];
  if (agentStatus === 'INACTIVE') return ['unmeasured', 'broken', 'unmeasured'];
  if (agentStatus !== 'ACTIVE') return ['unmeasured', 'unmeasured', 'unmeasured'];
  if (status === 'FAILED') return ['works', 'works', 'broken'];
  return ['works', 'works', status === 'PENDING' ? 'waiting' : 'unmeasured'];
}

export function brokenHop(way: readonly ShareHop[]): HopKind | undefined {
  return way.find(({ state }) => state === 'broken')?.kind;
}
