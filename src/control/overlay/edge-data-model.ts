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
import type { OverlayModel } from '../model/mod.ts';

type Edge = OverlayModel['edge'];
type Event = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]>;
type Model = NonNullable<Event['model']>;
type CheckInit = Exclude<Extract<Model, { case: 'postureCheck' }>['value'], DataState_PostureCheck>;

/** In the order that routers require: configs before identities and services, and these before policies. */
export function edgeDataModel(edge: Edge): {
  readonly configs: Model[];
  readonly identities: Model[];
  readonly services: Model[];
  readonly postureChecks: Model[];
  readonly policies: Model[];
} {
  return {
    configs: [
      ...edge.configTypes().map(({ id, name }): Model => ({ case: 'configType', value: { id, name } })),
      ...Array.from(edge.all('config'), ({ id, name, data }): Model => {
        const dataJson = JSON.stringify(data['data'] ?? {});
        return { case: 'config', value: { id, name, typeId: String(data['configTypeId']), dataJson } };
      }),
    ],
    identities: edge.tunnelIdentities().map(({ id, name, data }): Model => {
      const appDataJson = utf8(JSON.stringify(data['appData'] ?? {}));
      return { case: 'identity', value: { id, name, appDataJson } };
    }),
    services: Array.from(edge.services(), ({ id, name, configs, encryptionRequired }): Model => {
      return { case: 'service', value: { id, name, configs: [...configs], encryptionRequired } };
    }),
    postureChecks: Array.from(edge.postureChecks.all(), ({ record: { id, name, data }, check }): Model => {
      const { subtype } = check as { readonly subtype: NonNullable<CheckInit['subtype']> };
      return { case: 'postureCheck', value: { id, name, typeId: String(data['typeId']), subtype } };
    }),
    policies: [...edge.policies()].flatMap((policy) => policyModels(edge, policy)),
  };
}

function policyModels(edge: Edge, policy: Parameters<Edge['selectedServices']>[0]): Model[] {
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
    related(RELATED_IDENTITY, edge.selectedIdentities(policy)),
  ];
}
