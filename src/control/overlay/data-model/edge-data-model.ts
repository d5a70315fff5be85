/**
 * The services, policies and posture checks of the edge management API in the router data model, with their roles as lists of
 * ids, and the identities of routers with a tunnel listener.
 */
import { utf8 } from '#base';
import {
  DataState_PolicyType,
  DataState_RelatedEntityType,
  type CtrlInit,
  type DataState_PostureCheck,
} from '#wire/ctrl';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { IsKnown } from './data-model-events.ts';

type Edge = OverlayModel['edge'];
type Event = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]>;
type Model = NonNullable<Event['model']>;
type CheckInit = Exclude<Extract<Model, { case: 'postureCheck' }>['value'], DataState_PostureCheck>;

/**
 * In the order that routers require: configs before identities and services, and these before policies. `isKnown`: whether
 * routers have an identity that is not a router's. Nothing refers to what is not here.
 */
export function edgeDataModel(
  edge: Edge,
  isKnown: IsKnown,
): {
  readonly configs: Model[];
  readonly identities: Model[];
  readonly services: Model[];
  readonly postureChecks: Model[];
  readonly policies: Model[];
} {
  const identities = edge.tunnelIdentities().map(({ id, name, data }): Model => {
    const appDataJson = utf8(JSON.stringify(data['appData'] ?? {}));
    return { case: 'identity', value: { id, name, appDataJson } };
  });
  const configIds = new Set<string>();
  const configs = Array.from(edge.all('config'), ({ id, name, data }): Model => {
    configIds.add(id);
    const dataJson = JSON.stringify(data['data'] ?? {});
    return { case: 'config', value: { id, name, typeId: String(data['configTypeId']), dataJson } };
  });
  const hasIdentity = ({ id }: { readonly id: string }): boolean => isKnown(id) || edge.isTunnelIdentity(id);
  return {
    configs: [
      ...edge.configTypes().map(({ id, name }): Model => ({ case: 'configType', value: { id, name } })),
      ...configs,
    ],
    identities,
    services: Array.from(edge.services(), ({ id, name, configs: ids, encryptionRequired }): Model => {
      const named = ids.filter((configId) => configIds.has(configId));
      return { case: 'service', value: { id, name, configs: named, encryptionRequired } };
    }),
    postureChecks: Array.from(edge.postureChecks.all(), ({ record: { id, name, data }, check }): Model => {
      const { subtype } = check as { readonly subtype: NonNullable<CheckInit['subtype']> };
      return { case: 'postureCheck', value: { id, name, typeId: String(data['typeId']), subtype } };
    }),
    policies: [...edge.policies()].flatMap((policy) => policyModels(edge, policy, hasIdentity)),
  };
}

function policyModels(
  edge: Edge,
  policy: Parameters<Edge['selectedServices']>[0],
  hasIdentity: (identity: { readonly id: string }) => boolean,
): Model[] {
  const { id: policyId, name, type } = policy;
  if (type === null) return [];
  const policyType = type === 'Bind' ? DataState_PolicyType.BIND_POLICY : DataState_PolicyType.DIAL_POLICY;
  const { RELATED_SERVICE, RELATED_IDENTITY, RELATED_POSTURE_CHECK } = DataState_RelatedEntityType;
  const related = (
    relatedEntityType: DataState_RelatedEntityType,
    of: readonly { readonly id: string }[],
  ) => ({
    case: 'servicePolicyChange' as const,
    value: { policyId, relatedEntityIds: of.map(({ id }) => id), relatedEntityType, add: true },
  });
  return [
    { case: 'servicePolicy', value: { id: policyId, name, policyType } },
    // First, so that the policy never grants more than it will.
    related(
      RELATED_POSTURE_CHECK,
      edge.postureChecks.of(policy).map(({ record }) => record),
    ),
    related(RELATED_SERVICE, edge.selectedServices(policy)),
    related(RELATED_IDENTITY, edge.selectedIdentities(policy).filter(hasIdentity)),
  ];
}
