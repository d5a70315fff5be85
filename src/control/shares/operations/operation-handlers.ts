/** The handlers of all operations of the Management API. */
import { operations, type OperationId } from '#contract';
import type { ApiAnswer, ApiParts, Call, Handlers } from './call.ts';
import { agentEnrollmentHandlers } from './agent-enrollment-operations.ts';
import { attentionHandlers } from './attention-operations.ts';
import { auditHandlers } from './audit-operations.ts';
import { authorityHandlers } from './authority-operations.ts';
import { backupHandlers } from './backup-operation.ts';
import { callerHandlers } from './caller-operations.ts';
import { changeHandlers } from './change-operations.ts';
import { consoleLogInHandlers } from './console-log-in-operations.ts';
import { consoleSessionHandlers } from './console-session-operations.ts';
import { credentialHandlers } from './credential-operations.ts';
import { customFrontendHandlers } from './custom-frontend-operations.ts';
import { descriptionHandlers } from './description-operations.ts';
import { environmentHandlers } from './environment-operations.ts';
import { eventExportHandlers } from './event-export-operations.ts';
import { fabricHandlers } from './fabric-operations.ts';
import { fabricServiceHandlers } from './fabric-service-operations.ts';
import { failureHandlers } from './failure-operations.ts';
import { frontdoorHandlers } from './frontdoor-operations.ts';
import { frontendHandlers } from './frontend-operations.ts';
import { hostnameClaimHandlers } from './hostname-claim-operations.ts';
import { inspectorHandlers } from './inspector-operations.ts';
import { installationHandlers } from './installation-operations.ts';
import { loginSessionHandlers } from './login-session-operations.ts';
import { meshHandlers } from './mesh-operations.ts';
import { metricHandlers } from './metric-operations.ts';
import { notificationHandlers } from './notification-operations.ts';
import { organizationHandlers } from './organization-operations.ts';
import { peopleHandlers } from './people-operations.ts';
import { policyComparisonHandlers } from './policy-comparison-operations.ts';
import { policyHandlers } from './policy-operations.ts';
import { providerCheckHandlers } from './provider-check-operations.ts';
import { providerHandlers } from './provider-operations.ts';
import { providerTypeHandlers } from './provider-type-operations.ts';
import { requestLogHandlers } from './request-log-operations.ts';
import { restingNameHandlers } from './resting-name-operations.ts';
import { sealingHandlers } from './sealing-operations.ts';
import { searchHandlers } from './search-operations.ts';
import { secondFactorHandlers } from './second-factor-operations.ts';
import { shareDomainHandlers } from './share-domain-operations.ts';
import { shareHandlers } from './share-operations.ts';
import { sharePolicyHandlers } from './share-policy-operations.ts';
import { shareUpstreamHandlers } from './share-upstream-operations.ts';
import { signingKeyHandlers } from './signing-key-operations.ts';
import { summaryHandlers } from './summary-operations.ts';
import { terminatorHandlers } from './terminator-operations.ts';

type AnyHandler = (parts: ApiParts, call: Call<unknown, string>) => Promise<ApiAnswer>;

const handlers: Handlers<ApiParts, OperationId> = {
  ...frontdoorHandlers,
  ...environmentHandlers,
  ...agentEnrollmentHandlers,
  ...shareHandlers,
  ...sharePolicyHandlers,
  ...shareUpstreamHandlers,
  ...shareDomainHandlers,
  ...policyComparisonHandlers,
  ...policyHandlers,
  ...failureHandlers,
  ...inspectorHandlers,
  ...requestLogHandlers,
  ...customFrontendHandlers,
  ...hostnameClaimHandlers,
  ...fabricHandlers,
  ...fabricServiceHandlers,
  ...terminatorHandlers,
  ...meshHandlers,
  ...credentialHandlers,
  ...providerHandlers,
  ...providerTypeHandlers,
  ...loginSessionHandlers,
  ...metricHandlers,
  ...notificationHandlers,
  ...eventExportHandlers,
  ...organizationHandlers,
  ...peopleHandlers,
  ...secondFactorHandlers,
  ...consoleSessionHandlers,
  ...consoleLogInHandlers,
  ...restingNameHandlers,
  ...callerHandlers,
  ...signingKeyHandlers,
  ...backupHandlers,
  ...auditHandlers,
  ...changeHandlers,
  ...summaryHandlers,
  ...attentionHandlers,
  ...searchHandlers,
  ...descriptionHandlers,
  ...frontendHandlers,
  ...installationHandlers,
  ...authorityHandlers,
  ...sealingHandlers,
  ...providerCheckHandlers,
};

export function handlerOf(id: OperationId): AnyHandler {
  return handlers[id] as AnyHandler;
}

export type CheckedOperation = (typeof operations)[number];

/** The operations of the contract. Throws if one has no handler, or a handler no operation. */
export function checkedOperations(): readonly CheckedOperation[] {
  const ids = new Set<string>();
  for (const { id } of operations) {
    if (ids.has(id)) throw new Error(`the operation ${id} stands in the contract twice`);
    if (!Object.hasOwn(handlers, id)) throw new Error(`the operation ${id} has no handler`);
    ids.add(id);
  }
  for (const id of Object.keys(handlers))
    if (!ids.has(id)) throw new Error(`the handler ${id} has no operation`);
  return operations;
}
