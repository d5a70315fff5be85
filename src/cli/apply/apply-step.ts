/** One step of `frontdoor apply`. */
import type { ManagementRequest } from '../management-client.ts';

export interface ApplyStep {
  readonly action: 'create' | 'change' | 'delete';
  readonly what: string;
  readonly name: string;
  /** Fields that differ; empty for a creation or deletion. */
  readonly fields: readonly string[];
  /** In order. Paths follow that of the frontdoor. */
  readonly requests: readonly ((ids: ProviderIds) => ManagementRequest)[];
}

/** Ids of auth providers by name, those included that earlier steps made. */
export type ProviderIds = ReadonlyMap<string, string>;

export function deletion(what: string, name: string, path: string): ApplyStep {
  return { action: 'delete', what, name, fields: [], requests: [() => ({ method: 'DELETE', path })] };
}
