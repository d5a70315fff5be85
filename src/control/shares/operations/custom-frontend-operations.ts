/** Operations on custom frontends, which are hostnames of the owner below which public shares are served. */
import type { CustomFrontendAnswer } from '#contract/schemas';
import { invalidValue } from '#domain';
import { checkNoPublicSuffix } from '../hostnames/registrable-domain.ts';
import { CLAIM_MS } from '../hostnames/hostname-proof-policy.ts';
import {
  changeCustomFrontend,
  deleteCustomFrontend,
  findCustomFrontend,
  insertCustomFrontend,
  listCustomFrontends,
  lockCustomFrontend,
  zoneOf,
  type CustomFrontendRecord,
} from '../records/custom-frontend-store.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  type ApiParts,
  type Call,
  type ChangeParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkedRecords, neededRecords, PROBED_LABEL, type RecordedName } from './hostname-records.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

const KIND = 'custom-frontend';
const FOR_GATEWAYS = 'Shares and sign-ins below the name reach the gateways';

export const customFrontendHandlers: Handlers<
  CreationParts & Pick<ApiParts, 'installation'>,
  | 'listCustomFrontends'
  | 'createCustomFrontend'
  | 'getCustomFrontend'
  | 'changeCustomFrontend'
  | 'deleteCustomFrontend'
  | 'listDnsRecords'
  | 'checkDnsRecords'
> = {
  async listCustomFrontends(parts, call) {
    const request = parsePageRequest(call.query);
    const page = await listCustomFrontends(
      ...([parts.store.db, call.frontdoor, request, listFilterOf(call.query)] as const),
    );
    return ok(countedPageAnswer(request, page, page.content.map(answerOf)));
  },

  async createCustomFrontend(parts, call) {
    const { hostname, frontendId, authProviderIds = [] } = call.body;
    const { frontdoor } = call;
    await checkNoPublicSuffix('hostname', hostname);
    const nowMs = parts.clock.nowMs();
    const claim = { nowMs, claimEndsAtMs: nowMs + CLAIM_MS };
    const wanted = { hostname, frontendId, authProviderIds, ...claim };
    const make = async (trx: Queries, touch: Touch) => {
      const result = await insertCustomFrontend(trx, touch, frontdoor, wanted);
      return { result, target: { kind: KIND, id: result.id }, after: answerOf(result) };
    };
    return creation(parts, call, make, (record) => {
      const path = `/frontdoor/${frontdoor.id}/custom-frontends/${record.id}`;
      return tagged(parts, created(parts, path, answerOf(record)), storedOf(record));
    });
  },

  async getCustomFrontend(parts, call) {
    const record = await recordOf(parts, call);
    return tagged(parts, ok(answerOf(record)), storedOf(record));
  },

  async changeCustomFrontend(parts, call) {
    const { customFrontendId: id } = call.parameters;
    const { authProviderIds, hostname, frontendId } = call.body;
    const after = await change(parts, call, async (trx, touch) => {
      const before = await lockCustomFrontend(trx, call.frontdoor, id);
      if (before === undefined) throw notFound('Custom frontend', id);
      checkIfMatch(parts, call, storedOf(before));
      checkFixed('hostname', hostname?.toLowerCase(), before.hostname);
      checkFixed('frontendId', frontendId, before.frontendId);
      const result =
        authProviderIds === undefined
          ? before
          : await changeCustomFrontend(trx, touch, call.frontdoor, before, authProviderIds);
      const target = { kind: KIND, id: before.id };
      return { result, target, before: answerOf(before), after: answerOf(result) };
    });
    return tagged(parts, ok(answerOf(after)), storedOf(after));
  },

  async deleteCustomFrontend(parts, call) {
    const { customFrontendId: id } = call.parameters;
    await change(parts, call, async (trx, touch) => {
      const before = await deleteCustomFrontend(trx, touch, call.frontdoor, id, parts.clock.nowMs());
      if (before === undefined) throw notFound('Custom frontend', id);
      checkIfMatch(parts, call, storedOf(before));
      return { result: undefined, target: { kind: KIND, id: before.id }, before: answerOf(before) };
    });
    return gone;
  },

  async listDnsRecords(parts, call) {
    const { db } = parts.store;
    return ok(await neededRecords(db, call.frontdoor, await recordedName(db, await recordOf(parts, call))));
  },

  async checkDnsRecords(parts, call) {
    const named = await recordedName(parts.store.db, await recordOf(parts, call));
    return ok(await checkedRecords(parts, call.frontdoor, named));
  },
};

/** Settings that stay may be repeated, but not changed. */
function checkFixed(field: string, given: string | undefined, stored: string): void {
  if (given !== undefined && given !== stored) throw invalidValue(field, stored);
}

async function recordOf(
  parts: ChangeParts,
  call: Call<unknown, 'customFrontendId'>,
): Promise<CustomFrontendRecord> {
  const { customFrontendId: id } = call.parameters;
  const record = await findCustomFrontend(parts.store.db, call.frontdoor, id);
  if (record === undefined) throw notFound('Custom frontend', id);
  return record;
}

/** Any name below the hostname has the records of the wildcard. */
async function recordedName(db: Queries, record: CustomFrontendRecord): Promise<RecordedName> {
  const { id, hostname, proof, proofName } = record;
  const alias = {
    name: `*.${hostname}`,
    zone: await zoneOf(db, record),
    lookedUp: `${PROBED_LABEL}.${hostname}`,
    purpose: FOR_GATEWAYS,
  };
  return { id, hostname, proof, proofName, alias };
}

/** The fields that the entity tag covers: all except the status, which gateways report, and the proof, which DNS gives. */
function storedOf(record: CustomFrontendRecord) {
  const {
    status: _,
    proof: _proof,
    proofName: _name,
    proofEndsAtMs: _endsAt,
    proofProblem: _problem,
    ...stored
  } = record;
  return stored;
}

function answerOf(record: CustomFrontendRecord): CustomFrontendAnswer {
  const { id, frontdoorId, hostname, frontendId, authProviderIds, status, createdAtMs } = record;
  const { proof, proofEndsAtMs, proofProblem } = record;
  return {
    id,
    frontdoorId,
    hostname,
    frontendId,
    authProviderIds: [...authProviderIds],
    status,
    domainName: `*.${hostname}`,
    proof,
    proofEndsAt: proofEndsAtMs === null ? null : isoTime(proofEndsAtMs),
    proofProblem,
    createdAt: isoTime(createdAtMs),
  };
}
