/** References between entities: they must exist when they are written, and go when their target is deleted. */
import { textsOf } from '#base';
import { invalidParameter, missingEntity } from '../../overlay/clients/mod.ts';
import {
  builtInEntities,
  isTunnelRouter,
  namedIds,
  type EdgeEntityKind,
  type EdgeEntityRecord,
} from '../../overlay/model/mod.ts';
import {
  edgeEntitiesNaming,
  findEdgeEntities,
  findFabricNode,
  updateEdgeEntity,
} from '../../overlay/records/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import type { EntityForm } from './entity-form.ts';
import { configProblem } from './config-schema.ts';

/**
 * Throws `COULD_NOT_VALIDATE` with the field whose target is missing, and for a config that its type refuses. A terminator
 * whose service or router is missing is `NOT_FOUND`, as with OpenZiti.
 */
export async function checkReferences(
  db: Queries,
  form: EntityForm,
  entity: EdgeEntityRecord,
): Promise<void> {
  const found: EdgeEntityRecord[] = [];
  for (const { field, kind, ids } of form.references(entity.data)) {
    const targets = await targetsOf(db, kind, ids);
    const missing = ids.filter((id) => !targets.some((target) => target.id === id));
    if (missing.length > 0 && form.kind === 'terminator') throw missingEntity(field, missing.join(','));
    if (missing.length > 0)
      throw invalidParameter(field, `no ${kind} found with ids [${missing.join(',')}]`, missing.join(','));
    found.push(...targets);
  }
  if (form.kind === 'config') checkConfig(entity, found[0]!);
  if (form.kind === 'service') checkConfigTypes(found);
}

async function targetsOf(
  db: Queries,
  kind: EdgeEntityKind,
  ids: readonly string[],
): Promise<EdgeEntityRecord[]> {
  if (ids.length === 0) return [];
  if (kind === 'edge-router' || kind === 'transit-router') {
    const nodes = await Promise.all(ids.map((id) => findFabricNode(db, 'router', id)));
    return nodes.flatMap((node) =>
      node === undefined || (kind === 'edge-router' && !node.hasEdge)
        ? []
        : { ...node, kind, data: {}, tags: {}, updatedAtMs: node.createdAtMs },
    );
  }
  const builtIn = builtInEntities(kind).filter(({ id }) => ids.includes(id));
  const isMeant = (entity: EdgeEntityRecord): boolean =>
    entity.kind === kind || (kind === 'identity' && isTunnelRouter(entity));
  return [...builtIn, ...(await findEdgeEntities(db, ids)).filter(isMeant)];
}

function checkConfig({ data }: EdgeEntityRecord, type: EdgeEntityRecord): void {
  const problem = configProblem(type.data['schema'], data['data']);
  if (problem !== undefined) throw invalidParameter('data', problem, '');
}

/** Clients see the configs of a service by their type. */
function checkConfigTypes(configs: readonly EdgeEntityRecord[]): void {
  const types = configs.map(({ data }) => String(data['configTypeId']));
  const twice = types.find((type, index) => types.indexOf(type) !== index);
  if (twice !== undefined)
    throw invalidParameter('configs', `duplicate configs named for config type ${twice}`, twice);
}

/** Removes an entity that is deleted from the policies and services that name it. Returns false if it must stay. */
export async function forgetReferences(
  trx: Queries,
  touch: Touch,
  gone: EdgeEntityRecord,
  nowMs: number,
): Promise<boolean> {
  const { id } = gone;
  for (const entity of await edgeEntitiesNaming(trx, id)) {
    const { configTypeId, authPolicyId, enrollAuthPolicyId } = entity.data;
    if ([configTypeId, authPolicyId, enrollAuthPolicyId].includes(id)) return false;
    // Without its last signer, a policy would permit every one.
    if (entity.kind === 'auth-policy') return false;
    const data = without(entity, id);
    await updateEdgeEntity(trx, touch, { ...entity, data, updatedAtMs: nowMs });
  }
  return true;
}

function without({ data }: EdgeEntityRecord, id: string): EdgeEntityRecord['data'] {
  const kept = { ...data };
  for (const field of ['identityRoles', 'serviceRoles', 'edgeRouterRoles', 'postureCheckRoles'])
    if (namedIds(textsOf(data[field])).includes(id))
      kept[field] = textsOf(data[field]).filter((role) => role !== `@${id}`);
  if (textsOf(data['configs']).includes(id))
    kept['configs'] = textsOf(data['configs']).filter((one) => one !== id);
  for (const field of ['serviceHostingCosts', 'serviceHostingPrecedences']) {
    const values = data[field];
    if (typeof values === 'object' && values !== null)
      kept[field] = Object.fromEntries(Object.entries(values).filter(([key]) => key !== id));
  }
  return kept;
}
