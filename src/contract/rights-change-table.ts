/**
 * Operations that change who may do what: people, roles, accounts, sign-in providers, log-ins. Two callers may take each
 * other's rights at the same time, so these operations check the rights of their caller again inside their transaction.
 */
import type { OperationId } from './operation-table.ts';
import type { Operation, OperationGroup } from './operation.ts';

const GROUPS: ReadonlySet<OperationGroup> = new Set([
  ...(['People', 'Organizations', 'API accounts', 'OAuth clients', 'Auth providers'] as const),
]);

/** They change rights by what they delete. */
const OTHERS: ReadonlySet<string> = new Set<OperationId>(['deleteFrontdoor']);

export function changesRights({ id, group, method }: Pick<Operation, 'id' | 'group' | 'method'>): boolean {
  return method !== 'GET' && (GROUPS.has(group) || OTHERS.has(id));
}
