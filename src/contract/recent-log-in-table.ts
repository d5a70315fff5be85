/** Operations that ask a person for a recent log-in, because a browser that was left open could do much harm with them. */
import type { OperationId } from './operation-table.ts';
import type { Operation } from './operation.ts';

const DANGEROUS: ReadonlySet<string> = new Set<OperationId>([
  ...(['deleteFrontdoor', 'deleteOrganization', 'getBackup', 'rotateSigningKey'] as const),
  ...(['changePerson', 'deletePerson', 'createInvitation', 'createConsoleLogIn'] as const),
  ...(['beginSecondFactor', 'renewRecoveryCodes', 'removeSecondFactor'] as const),
  ...(['removePersonSecondFactor', 'createPasswordLink', 'changeOrganizationSettings'] as const),
  ...(['createApiAccount', 'rotateApiAccount', 'createOauthClient', 'rotateOauthClient'] as const),
]);

/** Whether a session at the console needs a log-in of the last 15 minutes for the operation. */
export function needsRecentLogIn({ id }: Pick<Operation, 'id'>): boolean {
  return DANGEROUS.has(id);
}
