/** What a router makes of a list of controllers that one of them pushed: a pure decision, OpenZiti's. */

export interface MembershipState {
  /** Index of the list in use; 0 when there is none, and any list is newer. */
  readonly index: bigint;
  /** Endpoints through which controllers are connected now. */
  readonly connected: readonly string[];
}

export interface PushedMembership {
  readonly index: bigint;
  readonly isLeader: boolean;
  readonly endpoints: readonly string[];
}

export interface MembershipDecision {
  /** `add`: what is new is dialed, nothing is left; the leader has the last word. */
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
