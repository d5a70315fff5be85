/** What a run of the API's benchmark found. */
import type { Figure } from '../figure.ts';

export interface ApiFigures {
  readonly rate: Figure;
  readonly p99Us: Figure;
}

/** By scenario, then by server. */
export type ApiResults = ReadonlyMap<string, ReadonlyMap<string, ApiFigures>>;

/** The server that all others are compared with. */
export const HELLO = 'bare Fastify';
