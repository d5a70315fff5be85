/** One way through a fabric that is measured: a TCP door, the hops behind it, and at the end the service. */
export interface Chain {
  /** Who made it: `Frontdoor`, `plain relay`, … */
  readonly maker: string;
  readonly hops: 1 | 3;
  /** Connections there end at the service. */
  readonly port: number;
  /** Process ids of the hops, door first. */
  readonly pids: readonly number[];
}

export interface Chains {
  readonly chains: readonly Chain[];
  stop(): Promise<void>;
}

export const OURS = 'Frontdoor';
export const RELAY = 'plain relay';
export const HAPROXY = 'haproxy';
export const GO = 'OpenZiti';

export function chainName({ maker, hops }: Pick<Chain, 'maker' | 'hops'>): string {
  return `${maker}, ${hops === 1 ? '1 router' : '3 routers'}`;
}
