/**
 * Operations on the audit trail: pages, a stream, and verification. Every caller can read the trail of its own
 * organization; administrators can read every organization's, including deleted ones, and the installation's.
 */
import { readJsonObject } from '#base/shapes';
import type { AuditEventAnswer } from '#contract/schemas';
import { invalidValue } from '#domain';
import { readAlone } from '#net';
import { lastSequence, listAudit, verifyAudit, type AuditFilter, type AuditRow } from '../../audit/mod.ts';
import { authorsNamed } from '../../credentials/accounts/mod.ts';
import { findOrganization } from '../../credentials/people/mod.ts';
import { insufficientScope, notGranted } from './api-errors.ts';
import { isoTime, ok, type ApiAnswer, type ApiParts, type Call, type Handlers } from './call.ts';
import { lastEventIdOf, provenAgain, streamAnswer } from './event-stream-answer.ts';
import { ADMIN } from './granted-organization.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest, textOf } from './page-query.ts';

/** Stands for events without an organization, such as those about routers, and refusals of unauthenticated callers. */
const INSTALLATION = 'installation';

type AuditParts = Pick<ApiParts, 'store' | 'secrets' | 'auditFollowers'>;

export const auditHandlers: Handlers<AuditParts, 'listAuditEvents' | 'verifyAuditEvents'> = {
  async listAuditEvents(parts, call) {
    const asked = filterOf(call);
    const request = parsePageRequest(call.query);
    const organizationId = await organizationOf(parts, call);
    const actorsNamed = asked.text === undefined ? undefined : authorsNamed(organizationId, asked.text);
    const filter = { ...asked, actorsNamed };
    if (asksForStream(call)) return streamOf(parts, call, organizationId, filter);
    const page = await listAudit(parts.store.db, organizationId, filter, request);
    return ok(countedPageAnswer(request, page, page.content.map(auditAnswerOf)));
  },

  async verifyAuditEvents(parts, call) {
    return ok(await verifyAudit(parts.store.db, parts.secrets, await organizationOf(parts, call)));
  },
};

/** One event of a stream. */
export function auditJson(row: AuditRow): string {
  return JSON.stringify(auditAnswerOf(row));
}

/** The recorded state of a resource. Null: there is none, or it is damaged, which the verification reports. */
export function stateIn({ id }: AuditRow, json: string | null): object | null {
  if (json === null) return null;
  return readAlone(`the audit event ${id} of the store`, () => readJsonObject(json)) ?? null;
}

/** The event as the API returns it. */
export function auditAnswerOf(row: AuditRow): AuditEventAnswer {
  const { target_kind: kind, target_id: id } = row;
  return {
    id: row.id,
    sequence: row.sequence,
    at: isoTime(row.at),
    actor: { kind: row.actor_kind, id: row.actor_id },
    action: row.action,
    target: kind === null || id === null ? null : { kind, id },
    before: stateIn(row, row.before),
    after: stateIn(row, row.after),
    address: row.address,
    result: row.result,
    reason: row.reason,
    occurrences: row.occurrences,
    hash: row.hash,
  };
}

/** Returns the organization whose chain is read: '' for the installation's. */
async function organizationOf(parts: AuditParts, call: Call): Promise<string> {
  const { principal } = call;
  const asked = textOf(call.query, 'organizationId');
  if (asked === undefined) return principal.organizationId;
  if (asked === INSTALLATION) {
    if (!principal.scopes.includes(ADMIN)) throw insufficientScope(ADMIN);
    return '';
  }
  const organizationId = asked.toLowerCase();
  if (organizationId === principal.organizationId) return organizationId;
  if (!principal.scopes.includes(ADMIN) || !(await isKnown(parts, organizationId))) {
    throw notGranted('Organization', asked);
  }
  return organizationId;
}

/** A deleted organization is known as long as its trail exists. */
async function isKnown({ store }: AuditParts, organizationId: string): Promise<boolean> {
  if ((await lastSequence(store.db, organizationId)) > 0) return true;
  return (await findOrganization(store.db, organizationId)) !== undefined;
}

function filterOf({ query }: Call): AuditFilter {
  const { fromMs, toMs, text } = listFilterOf(query);
  return {
    fromMs,
    toMs,
    text,
    action: textOf(query, 'action'),
    actorId: textOf(query, 'actorId'),
    targetId: textOf(query, 'targetId'),
    result: textOf(query, 'result') as AuditFilter['result'],
  };
}

/** A HEAD has no body that could be a stream. */
function asksForStream({ request }: Call): boolean {
  const types = (request.headers.accept ?? '')
    .split(',')
    .map((type) => type.split(';')[0]!.trim().toLowerCase());
  return request.method === 'GET' && types.includes('text/event-stream');
}

function streamOf(
  parts: AuditParts,
  call: Call,
  organizationId: string,
  filter: AuditFilter,
): ApiAnswer<never> {
  for (const name of ['page', 'size', 'sort']) {
    if (call.query[name] !== undefined) throw invalidValue(name, 'a list, not of a stream');
  }
  const { principal } = call;
  const data = parts.auditFollowers.follow({
    organizationId,
    filter,
    afterSequence: lastEventOf(call),
    reader: `${principal.kind} ${principal.id}`,
    isAllowed: async () => (await provenAgain(call)) !== undefined,
  });
  return streamAnswer(data);
}

function lastEventOf(call: Call): number | undefined {
  const value = lastEventIdOf(call, (text) => /^[0-9]{1,15}$/.test(text), 'integer');
  return value === undefined ? undefined : Number(value);
}
