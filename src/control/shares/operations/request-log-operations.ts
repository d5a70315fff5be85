/** Operations on the request log of a frontdoor (ADR 0112). */
import { Readable } from 'node:stream';
import type { LoggedRequestAnswer, RequestLogAnswer } from '#contract/schemas';
import { remedyOf } from '#domain';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import {
  findRequest,
  listRequests,
  type RequestCursor,
  type RequestFilter,
  type StoredRequest,
} from '../records/request-log-list.ts';
import {
  DEFAULT_REQUEST_LOG,
  lockedRequestLogSetting,
  putRequestLogSetting,
  requestLogSetting,
  type RequestLogSetting,
} from '../records/request-log-setting-store.ts';
import { requestLogUsage } from '../records/request-log-store.ts';
import type { Queries } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import { change, isoTime, ok, unstored, type ApiParts, type ChangeParts, type Handlers } from './call.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { OrganizationLimit } from './organization-limit.ts';
import { listFilterOf, textOf, type Query } from './page-query.ts';
import { csvHead, csvLine } from './request-csv.ts';

const DEFAULT_SIZE = 50;
const EXPORTED_AT_ONCE = 500;
const BYTES_A_MEBIBYTE = 1_048_576;
const SECONDS_AN_HOUR = 3_600;

/** Each export holds one page in memory, for as long as its client takes. */
const exports = new OrganizationLimit({ most: 16, mostOfOrganization: 2, againSeconds: 10 });

export const requestLogHandlers: Handlers<
  ChangeParts & Pick<ApiParts, 'store'>,
  'listRequests' | 'getRequest' | 'getRequestLog' | 'setRequestLog' | 'exportRequests'
> = {
  async listRequests({ store }, { frontdoor, query }) {
    const size = numberOf(query, 'limit') ?? DEFAULT_SIZE;
    const page = { size: size + 1, cursor: cursorOf(query) };
    const rows = await listRequests(store.db, frontdoor, filterOf(query), page);
    const content = rows.slice(0, size);
    const last = content.at(-1);
    const next = rows.length > size && last !== undefined ? `${last.at}.${last.id}` : null;
    return unstored(ok({ content: content.map(requestAnswer), next }));
  },

  async getRequest({ store }, { frontdoor, parameters }) {
    const { requestId: id } = parameters;
    const found = await findRequest(store.db, frontdoor, id);
    if (found === undefined) throw notFound('Request', id);
    return unstored(ok(requestAnswer(found)));
  },

  async getRequestLog(parts, { frontdoor }) {
    const { db } = parts.store;
    const setting = await requestLogSetting(db, frontdoor.id);
    const answer = unstored(ok(await logAnswer(db, frontdoor.id, setting)));
    return tagged(parts, answer, settingAnswer(setting));
  },

  async setRequestLog(parts, call) {
    const { id } = call.frontdoor;
    const { enabled, keptHours, maxEntries, maxMebibytes } = call.body;
    const wanted: RequestLogSetting = {
      isEnabled: enabled,
      keptSeconds: keptHours === undefined ? DEFAULT_REQUEST_LOG.keptSeconds : keptHours * SECONDS_AN_HOUR,
      maxEntries: maxEntries ?? DEFAULT_REQUEST_LOG.maxEntries,
      maxBytes: maxMebibytes === undefined ? DEFAULT_REQUEST_LOG.maxBytes : maxMebibytes * BYTES_A_MEBIBYTE,
    };
    const answer = await change(parts, call, async (trx) => {
      const before = await lockedRequestLogSetting(trx, id);
      checkIfMatch(parts, call, settingAnswer(before));
      await putRequestLogSetting(trx, id, wanted);
      const result = await logAnswer(trx, id, wanted);
      return {
        result,
        target: { kind: 'request-log', id },
        before: settingAnswer(before),
        after: settingAnswer(wanted),
      };
    });
    return tagged(parts, unstored(ok(answer)), settingAnswer(wanted));
  },

  async exportRequests({ store }, { frontdoor, query }) {
    const end = exports.begin(store, frontdoor.organizationId);
    const isCsv = textOf(query, 'format') === 'csv';
    const data = Readable.from(exported(store.db, frontdoor, filterOf(query), isCsv));
    data.once('close', end);
    const contentType = isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
    const disposition = `attachment; filename="requests.${isCsv ? 'csv' : 'jsonl'}"`;
    return unstored({
      status: 200,
      raw: { contentType, data },
      headers: { 'content-disposition': disposition },
    });
  },
};

/** Reads the next page when the one before was taken. */
async function* exported(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  filter: RequestFilter,
  isCsv: boolean,
): AsyncGenerator<string> {
  if (isCsv) yield csvHead();
  const lineOf = isCsv ? csvLine : (entry: LoggedRequestAnswer) => `${JSON.stringify(entry)}\n`;
  let cursor: RequestCursor | undefined;
  for (;;) {
    const rows = await listRequests(db, frontdoor, filter, { size: EXPORTED_AT_ONCE, cursor });
    if (rows.length > 0) yield rows.map((row) => lineOf(requestAnswer(row))).join('');
    if (rows.length < EXPORTED_AT_ONCE) return;
    cursor = rows.at(-1);
  }
}

function filterOf(query: Query): RequestFilter {
  const { fromMs, toMs, text, statusClass } = listFilterOf(query);
  return {
    fromMs,
    toMs,
    text,
    statusClass,
    shareToken: textOf(query, 'shareToken'),
    outcome: textOf(query, 'outcome'),
    status: numberOf(query, 'status'),
    method: textOf(query, 'method'),
    host: textOf(query, 'host')?.toLowerCase(),
    client: textOf(query, 'client'),
    caller: textOf(query, 'caller'),
    authProviderId: textOf(query, 'authProviderId')?.toLowerCase(),
    code: textOf(query, 'code'),
    minMs: numberOf(query, 'minMs'),
  };
}

function numberOf(query: Query, name: string): number | undefined {
  const text = textOf(query, name);
  return text === undefined ? undefined : Number(text);
}

function cursorOf(query: Query): RequestCursor | undefined {
  const text = textOf(query, 'cursor');
  if (text === undefined) return undefined;
  const dot = text.indexOf('.');
  return { at: Number(text.slice(0, dot)), id: text.slice(dot + 1) };
}

function requestAnswer(row: StoredRequest): LoggedRequestAnswer {
  const { id, outcome, status, method, host, path, client, decision, code, hop, cause } = row;
  return {
    id,
    at: isoTime(row.at),
    shareToken: row.share_token,
    outcome,
    status,
    method,
    host,
    path,
    client,
    caller: row.identity,
    authProviderId: row.provider_id,
    decision,
    code,
    hop,
    cause,
    remedy: code === null ? null : remedyOf(code),
    traceId: row.trace_id,
    gatewayId: row.gateway_id,
    bytesIn: row.bytes_in,
    bytesOut: row.bytes_out,
    timingsMs: {
      decided: milliseconds(row.decided_us),
      circuit: milliseconds(row.circuit_us),
      firstByte: milliseconds(row.first_byte_us),
      done: milliseconds(row.done_us),
    },
    leftOut: row.left_out,
  };
}

function milliseconds(us: number | null): number | null {
  return us === null ? null : us / 1_000;
}

function settingAnswer({ isEnabled, keptSeconds, maxEntries, maxBytes }: RequestLogSetting) {
  return {
    enabled: isEnabled,
    keptHours: keptSeconds / SECONDS_AN_HOUR,
    maxEntries,
    maxMebibytes: maxBytes / BYTES_A_MEBIBYTE,
  };
}

async function logAnswer(
  db: Queries,
  frontdoorId: string,
  setting: RequestLogSetting,
): Promise<RequestLogAnswer> {
  const { entries, bytes } = await requestLogUsage(db, frontdoorId);
  const { enabled, keptHours, maxEntries, maxMebibytes } = settingAnswer(setting);
  return { enabled, keptHours, maxEntries, maxMebibytes, entries, usedBytes: bytes };
}
