/** How a host appears among the hosts of one service. */

/** The number of each precedence on the wire. */
export const PRECEDENCE = { default: 0, required: 1, failed: 2 } as const;

/** `required` hosts are dialed before those of `default`, and `failed` ones only if there are no others. */
export type TerminatorPrecedence = keyof typeof PRECEDENCE;

export const MAX_TERMINATOR_COST = 0xffff;

/** Where a host stands among the hosts of one service. */
export interface TerminatorRank {
  /** From 0 to 65,535: hosts of lower cost are preferred. 0 by default. */
  readonly cost?: number | undefined;
  readonly precedence?: TerminatorPrecedence | undefined;
}

export interface TerminatorOptions extends TerminatorRank {
  /**
   * Address of this host within the service. A dial that names it reaches only hosts with it, and a dial without an
   * address only hosts without one.
   */
  readonly identity?: string | undefined;
  /** Hosts that share an address have to present the same secret. */
  readonly secret?: Uint8Array | undefined;
}
