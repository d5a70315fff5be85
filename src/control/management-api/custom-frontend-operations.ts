/** Operations on custom frontends, which are hostnames of the owner below which public shares are served. */
import type { CustomFrontendAnswer, DnsRecordAnswer } from '#contract';
import { checkNoPublicSuffix } from './public-suffix.ts';
import {
  deleteCustomFrontend,
  findCustomFrontend,
  insertCustomFrontend,
  listCustomFrontends,
  zoneOf,
  type CustomFrontendRecord,
  type Queries,
  type Touch,
} from '../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  type Call,
  type ChangeParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

const KIND = 'custom-frontend';

export const customFrontendHandlers: Handlers<
  CreationParts,
  | 'listCustomFrontends'
  | 'createCustomFrontend'
  | 'getCustomFrontend'
  | 'deleteCustomFrontend'
  | 'listDnsRecords'
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
    const wanted = { hostname, frontendId, authProviderIds, nowMs: parts.clock.nowMs() };
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
    const record = await recordOf(parts, call);
    const zone = await zoneOf(parts.store.db, record);
    const purpose = 'Shares and log-ins below the name reach the gateways';
    const answer: DnsRecordAnswer[] = [{ type: 'CNAME', name: `*.${record.hostname}`, value: zone, purpose }];
    return ok(answer);
  },
};

async function recordOf(
  parts: ChangeParts,
  call: Call<unknown, 'customFrontendId'>,
): Promise<CustomFrontendRecord> {
  const { customFrontendId: id } = call.parameters;
  const record = await findCustomFrontend(parts.store.db, call.frontdoor, id);
  if (record === undefined) throw notFound('Custom frontend', id);
  return record;
}

/** The fields that the entity tag covers: all except the status, which gateways report. */
function storedOf({ status: _status, ...stored }: CustomFrontendRecord) {
  return stored;
}

function answerOf(record: CustomFrontendRecord): CustomFrontendAnswer {
  const { id, frontdoorId, hostname, frontendId, authProviderIds, status, createdAtMs } = record;
  return {
    ...{ id, frontdoorId, hostname, frontendId },
    authProviderIds: [...authProviderIds],
    status,
    domainName: `*.${hostname}`,
    createdAt: isoTime(createdAtMs),
  };
}
