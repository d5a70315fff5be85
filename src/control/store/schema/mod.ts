/** The tables as types, without the engine: pure files name them through this door. */
export type { HostnameProof } from './access-schema.ts';
export type { Database, EdgeEntityKind } from './schema.ts';
