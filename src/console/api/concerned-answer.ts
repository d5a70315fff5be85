/** Whether a change concerns an answer: by its operation, and by the frontdoor and the resource in its path. Pure. */
import type { ResourceEvent } from './change-source.ts';
import { answersOf } from './kind-table.ts';

/** Resources of frontdoors: the owner of their changes is one. */
const OF_FRONTDOORS: ReadonlySet<string> = new Set([
  'share',
  'environment',
  'enrollment',
  'auth-provider',
  'custom-frontend',
  'policy',
  'request-log',
  'session',
  'failure',
  'request',
]);
/** Their changes have the token of a share. */
const OF_SHARES: ReadonlySet<string> = new Set(['share', 'failure', 'request']);

/** `queryKey`: the operation, and the parameters of its path. */
export function isConcerned(queryKey: readonly unknown[], { kind, id, ownerId }: ResourceEvent): boolean {
  const [operation, parameters] = queryKey as readonly [string, Readonly<Record<string, string>> | null];
  const answers = answersOf(kind);
  if (answers === undefined) return true;
  if (!answers.has(operation)) return false;
  const { frontdoorId, token, id: resourceId } = parameters ?? {};
  const isOf = (value: string | undefined, expected: string | null) =>
    value === undefined || expected === null || value === expected;
  if (kind === 'frontdoor') return isOf(frontdoorId, id);
  if (OF_FRONTDOORS.has(kind) && !isOf(frontdoorId, ownerId)) return false;
  return OF_SHARES.has(kind) ? isOf(token, id) : isOf(resourceId, id);
}
