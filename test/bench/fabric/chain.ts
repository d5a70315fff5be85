/** One way through a fabric that is measured: a TCP door, the hops behind it, and at the end the service. */
import type { Target } from '../bench-run.ts';

export interface Chain extends Target {
  /** Whose hops these are: `Frontdoor`, `plain relay`, … */
  readonly maker: string;
  /** Connections there end at the service. */
  readonly port: number;
  /** Process ids of the hops, door first. */
  readonly pids: readonly number[];
}

export type Hops = 1 | 3;

export const OURS = 'Frontdoor';
export const RELAY = 'plain relay';
export const GO = 'OpenZiti';

const HOPS_TEXT = { 1: '1 router', 3: '3 routers' } as const;

export function chainName(maker: string, hops: Hops): string {
  return `${maker}, ${HOPS_TEXT[hops]}`;
}

/** The chain of plain relays that is as long. */
export function relayOf(name: string): string {
  return `${RELAY}${name.slice(name.lastIndexOf(','))}`;
}

/** CPU time of a chain is not measured: the load's own warm-up would count as CPU time and not as work. */
export function chainOf(maker: string, hops: Hops, port: number, pids: readonly number[]): Chain {
  return { name: chainName(maker, hops), maker, port, pids, processes: new Map() };
}
