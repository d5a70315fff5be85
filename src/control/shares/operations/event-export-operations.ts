/**
 * Operations on the collector of all events. Its address may hold a token, so the audit trail has its origin only; the secret is
 * never shown again.
 */
import { FrontdoorError } from '#base';
import type { AnswerOf, BodyOf } from '#contract';
import { invalidValue } from '#domain';
import { auditExportLag, endAuditExport, startAuditExport } from '../../audit/mod.ts';
import type { Queries } from '../../store/mod.ts';
import {
  deleteEventExport,
  findEventExport,
  lockEventExport,
  putEventExport,
  type EventExport,
  type StoredEventExport,
} from '../event-export/mod.ts';
import { eventExportLag, noteEventsExported } from '../notifications/mod.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type ChangeParts,
  type Handlers,
} from './call.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { OrganizationLimit } from './organization-limit.ts';

type ExportParts = ChangeParts & Pick<ApiParts, 'eventExport'>;

const TARGET = { kind: 'event-export', id: 'installation' } as const;
const DEFAULT_HEADER = 'authorization';
/** The client sets these. */
const OWN_HEADERS =
  /^(?:accept|accept-encoding|connection|content-.*|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$/i;
/** A test lasts until the collector answers, or the time is over. */
const tests = new OrganizationLimit({ most: 4, mostOfOrganization: 4, againSeconds: 10 });

export const eventExportHandlers: Handlers<
  ExportParts,
  'getEventExport' | 'setEventExport' | 'deleteEventExport' | 'testEventExport'
> = {
  async getEventExport(parts) {
    const { store, secrets } = parts;
    const found = await findEventExport(store.db, secrets);
    return tagged(parts, unstored(ok(await answerOf(store.db, found))), storedOf(found));
  },

  async setEventExport(parts, call) {
    const { secrets, clock } = parts;
    const result = await change(parts, call, async (trx) => {
      const before = await lockEventExport(trx, secrets);
      checkIfMatch(parts, call, storedOf(before));
      const wanted = wantedOf(call.body, before, clock.nowMs());
      await putEventExport(trx, secrets, wanted);
      const from = call.body.from ?? (before === undefined ? 'now' : undefined);
      if (from !== undefined) await startAuditExport(trx, from, clock.nowMs());
      if (from === 'now') await noteEventsExported(trx, undefined);
      const after = (await findEventExport(trx, secrets))!;
      return {
        result: { after, answer: await answerOf(trx, after) },
        target: TARGET,
        before: auditedOf(before),
        after: auditedOf(after),
        organizationId: '',
      };
    });
    return tagged(parts, unstored(ok(result.answer)), storedOf(result.after));
  },

  async deleteEventExport(parts, call) {
    await change(parts, call, async (trx) => {
      const before = await lockEventExport(trx, parts.secrets);
      checkIfMatch(parts, call, storedOf(before));
      if (before === undefined) throw noExport();
      await deleteEventExport(trx);
      await endAuditExport(trx);
      await noteEventsExported(trx, undefined);
      return { result: undefined, target: TARGET, before: auditedOf(before), organizationId: '' };
    });
    return gone;
  },

  async testEventExport(parts, call) {
    // Changes nothing, but makes the control plane call an address, which the audit trail records.
    const found = await change(parts, call, async (trx) => {
      const result = await findEventExport(trx, parts.secrets);
      if (result === undefined) throw noExport();
      return { result, target: TARGET, after: auditedOf(result), organizationId: '' };
    });
    const end = tests.begin(parts.eventExport, '');
    try {
      const problem = await parts.eventExport.attempt(found);
      return unstored(ok({ delivered: problem === undefined, problem: problem ?? null }));
    } finally {
      end();
    }
  },
};

function noExport(): FrontdoorError {
  return new FrontdoorError('notFound', 'not-found', 'There is no event export');
}

/** Throws `invalid` for an address that cannot be called, and for options that its kind does not have. */
const SECRET_AGAIN =
  'The address is at another origin, which the present secret was not given for: specify secret again, or null for none';

function wantedOf(
  body: BodyOf<'setEventExport'>,
  before: StoredEventExport | undefined,
  nowMs: number,
): EventExport {
  const { url, header = before?.header ?? DEFAULT_HEADER, gzip, enabled = true } = body;
  const target = URL.parse(url);
  if (target === null || target.hostname === '') throw invalidValue('url', 'an address');
  const isSyslog = target.protocol === 'tls:' || target.protocol === 'tcp:';
  const isElsewhere = before !== undefined && URL.parse(before.url)?.origin !== target.origin;
  // Otherwise a caller that may set the address could read the secret, which the API never shows.
  if (body.secret === undefined && isElsewhere && before.secret !== null && !isSyslog)
    throw new FrontdoorError('invalid', 'invalid-request', SECRET_AGAIN);
  const secret = body.secret === undefined ? (before?.secret ?? null) : body.secret;
  if (isSyslog) {
    if (target.port === '' || !/^\/?$/.test(target.pathname) || target.search !== '' || target.hash !== '')
      throw invalidValue('url', 'an address with a port and nothing behind it for syslog');
    if (typeof body.secret === 'string' || body.header !== undefined || gzip === true)
      throw new FrontdoorError('invalid', 'invalid-request', 'Syslog has no header and no compression');
  }
  if (OWN_HEADERS.test(header)) throw invalidValue('header', 'a header that the client does not set itself');
  return {
    url,
    header: header.toLowerCase(),
    secret: isSyslog ? null : secret,
    isCompressed: !isSyslog && (gzip ?? before?.isCompressed ?? false),
    isEnabled: enabled,
    createdAtMs: before?.createdAtMs ?? nowMs,
  };
}

/** The stored fields, without the results of attempts. */
function storedOf(found: EventExport | undefined) {
  return {
    url: found?.url ?? null,
    header: found?.header ?? DEFAULT_HEADER,
    hasSecret: found !== undefined && found.secret !== null,
    gzip: found?.isCompressed ?? false,
    enabled: found?.isEnabled ?? false,
  };
}

function auditedOf(found: EventExport | undefined) {
  if (found === undefined) return undefined;
  const { protocol, host } = new URL(found.url);
  return { ...storedOf(found), url: `${protocol}//${host}` };
}

async function answerOf(
  db: Queries,
  found: StoredEventExport | undefined,
): Promise<AnswerOf<'getEventExport'>> {
  const audit = found && (await auditExportLag(db));
  const notifications = found && (await eventExportLag(db));
  const oldest = Math.min(audit?.oldestAtMs ?? Infinity, notifications?.oldestAtMs ?? Infinity);
  const deliveredAtMs = found?.deliveredAtMs ?? null;
  return {
    ...storedOf(found),
    delivered: found?.delivered ?? 0,
    lastDeliveredAt: deliveredAtMs === null ? null : isoTime(deliveredAtMs),
    waiting: (audit?.waiting ?? 0) + (notifications?.waiting ?? 0),
    oldestWaitingAt: oldest === Infinity ? null : isoTime(oldest),
    failures: found?.failures ?? 0,
    lastProblem: found?.lastProblem ?? null,
  };
}
