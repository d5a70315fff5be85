/** Decides how a router applies a list of controllers that one of them pushed. Pure; it follows OpenZiti's routers. */

export interface MembershipState {
  /** Index of the current list. It is 0 when there is none, so that any list is newer. */
  readonly index: bigint;
  /** Endpoints with a connected controller. */
  readonly connected: readonly string[];
}

export interface PushedMembership {
  readonly index: bigint;
  readonly isLeader: boolean;
  readonly endpoints: readonly string[];
}

export interface MembershipDecision {
  /** `add`: new endpoints are dialed and none is removed, because only the leader can remove endpoints. */
  readonly use: 'replace' | 'add' | 'nothing';
  readonly asksLeader: boolean;
  readonly senderLeads: boolean;
}

export function decideMembership(state: MembershipState, pushed: PushedMembership): MembershipDecision {
  const isNewer = state.index === 0n || pushed.index > state.index;
  if (!isNewer) {
    return {
      use: 'nothing',
      asksLeader: false,
      senderLeads: pushed.isLeader && pushed.index === state.index,
    };
  }
  const senderLeads = pushed.isLeader;
  if (pushed.endpoints.length === 0) return { use: 'nothing', asksLeader: true, senderLeads };
  const losesOne = state.connected.some((endpoint) => !pushed.endpoints.includes(endpoint));
  if (losesOne && !pushed.isLeader) return { use: 'add', asksLeader: true, senderLeads };
  return { use: 'replace', asksLeader: false, senderLeads };
}
