/**
 * A changed resource in the words of the Management API. It travels with the other changes of a commit, so that readers
 * at every control plane can be notified.
 */
import type { Change, Touch } from './store.ts';

export interface ResourceChange {
  /** The frontdoor that it belongs to; for a frontdoor, its organization. Null for resources of the installation. */
  readonly ownerId: string | null;
  /** The kind as the audit trail has it: `share`, `environment`, `auth-provider`, `router`… */
  readonly kind: string;
  /** The id in the API: a token for a share. */
  readonly id: string;
}

/** Ids of resources, kinds and owners contain no spaces. */
const SEPARATOR = ' ';

/** Called inside the transaction of the change. */
export function touchResource(touch: Touch, { ownerId, kind, id }: ResourceChange): void {
  touch('resource', [ownerId ?? '', kind, id].join(SEPARATOR));
}

/** Returns undefined for changes of another kind. */
export function resourceChangeOf({ entity, id }: Change): ResourceChange | undefined {
  if (entity !== 'resource') return undefined;
  const [ownerId = '', kind, ...rest] = id.split(SEPARATOR);
  if (kind === undefined || rest.length === 0) return undefined;
  return { ownerId: ownerId === '' ? null : ownerId, kind, id: rest.join(SEPARATOR) };
}
