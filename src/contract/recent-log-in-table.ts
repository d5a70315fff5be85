/** Operations that ask a person for a recent log-in, because a browser that was left open could do much harm with them. */
import type { OperationId } from './operation-table.ts';
import type { Operation } from './operation.ts';

const DANGEROUS: ReadonlySet<string> = new Set<OperationId>([
  ...(['deleteFrontdoor', 'deleteOrganization', 'rotateSigningKey', 'changeOrganizationSettings'] as const),
  ...(['rotateAuthority', 'advanceAuthority', 'rotateSealingKey', 'grantHostname'] as const),
  ...(['setEventExport', 'deleteEventExport'] as const),
  ...(['changePerson', 'deletePerson', 'createConsoleLogIn', 'deleteConsoleLogIn'] as const),
  ...(['removeSecondFactor', 'removePersonSecondFactor'] as const),
]);

/** Whether a session at the console needs a log-in of the last 15 minutes for the operation: also each that shows a secret. */
export function needsRecentLogIn({ id, answer }: Pick<Operation, 'id' | 'answer'>): boolean {
  return answer.secret !== undefined || DANGEROUS.has(id);
}
