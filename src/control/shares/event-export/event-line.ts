/** Events as lines of JSON, and as messages of syslog (RFC 5424) that carry them. */
import type { AuditRow } from '../../audit/mod.ts';
import type { ExportedEvent } from '../notifications/mod.ts';

export interface EventLine {
  readonly kind: 'audit' | 'notification' | 'test';
  readonly atMs: number;
  readonly isWarning: boolean;
  /** JSON on one line. */
  readonly json: string;
}

/** RFC 5424 §6.2.1. */
const FACILITIES = { audit: 13, notification: 16, test: 16 } as const;
const WARNING = 4;
const INFORMATIONAL = 6;
const MAX_HOST_CHARS = 255;
/** Types that report that something works again. */
const GOOD = /\.(?:healthy|back)$/;

/** `fields`: the event as the API returns it. */
export function auditLine(row: AuditRow, fields: object): EventLine {
  const organizationId = row.organization_id === '' ? null : row.organization_id;
  return {
    kind: 'audit',
    atMs: row.at,
    isWarning: row.result === 'refused',
    json: JSON.stringify({ kind: 'audit', organizationId, ...fields }),
  };
}

/** `data` that is damaged is sent as text. */
export function notificationLine({ id, organizationId, type, atMs, data }: ExportedEvent): EventLine {
  const fields = {
    kind: 'notification',
    organizationId: organizationId === '' ? null : organizationId,
    id,
    at: new Date(atMs).toISOString(),
    type,
    data: parsed(data),
  };
  return { kind: 'notification', atMs, isWarning: !GOOD.test(type), json: JSON.stringify(fields) };
}

/** Replaces the line of an event that is damaged in the database, so that the collector learns of it and gets the others. */
export function damagedLine(
  kind: 'audit' | 'notification',
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
  nowMs: number,
): EventLine {
  const fields = { kind, organizationId: organizationId === '' ? null : organizationId, id, damaged: true };
  return { kind, atMs: nowMs, isWarning: true, json: JSON.stringify(fields) };
}

export function testLine(atMs: number): EventLine {
  const message = 'This is a test of the event export of Frontdoor.';
  const json = JSON.stringify({ kind: 'test', at: new Date(atMs).toISOString(), message });
  return { kind: 'test', atMs, isWarning: false, json };
}

/** Each message has its length in front of it (RFC 6587 §3.4.1). */
export function syslogBytes(lines: readonly EventLine[], host: string): Uint8Array {
  const hostname = host.replaceAll(/[^\x21-\x7e]/g, '').slice(0, MAX_HOST_CHARS) || '-';
  const messages = lines.map(({ kind, atMs, isWarning, json }) => {
    const priority = FACILITIES[kind] * 8 + (isWarning ? WARNING : INFORMATIONAL);
    const time = new Date(atMs).toISOString();
    const message = Buffer.from(`<${priority}>1 ${time} ${hostname} frontdoor - ${kind} - ${json}`);
    return Buffer.concat([Buffer.from(`${message.length} `), message]);
  });
  return Buffer.concat(messages);
}

/** One line each. */
export function jsonLines(lines: readonly EventLine[]): string {
  return lines.map(({ json }) => `${json}\n`).join('');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
