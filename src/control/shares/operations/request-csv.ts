/**
 * Entries of the request log as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe
 * before it, because clients choose hosts, paths and names.
 */
import type { LoggedRequestAnswer } from '#contract/schemas';

const COLUMNS: readonly (readonly [
  name: string,
  value: (entry: LoggedRequestAnswer) => string | number | null,
])[] = [
  ['at', ({ at }) => at],
  ['id', ({ id }) => id],
  ['share', ({ shareToken }) => shareToken],
  ['outcome', ({ outcome }) => outcome],
  ['status', ({ status }) => status],
  ['method', ({ method }) => method],
  ['host', ({ host }) => host],
  ['path', ({ path }) => path],
  ['client', ({ client }) => client],
  ['caller', ({ caller }) => caller],
  ['authProviderId', ({ authProviderId }) => authProviderId],
  ['decision', ({ decision }) => decision],
  ['code', ({ code }) => code],
  ['hop', ({ hop }) => hop],
  ['cause', ({ cause }) => cause],
  ['traceId', ({ traceId }) => traceId],
  ['gatewayId', ({ gatewayId }) => gatewayId],
  ['bytesIn', ({ bytesIn }) => bytesIn],
  ['bytesOut', ({ bytesOut }) => bytesOut],
  ['decidedMs', ({ timingsMs }) => timingsMs.decided],
  ['circuitMs', ({ timingsMs }) => timingsMs.circuit],
  ['firstByteMs', ({ timingsMs }) => timingsMs.firstByte],
  ['doneMs', ({ timingsMs }) => timingsMs.done],
  ['leftOut', ({ leftOut }) => leftOut],
];

export function csvHead(): string {
  return `${COLUMNS.map(([name]) => name).join(',')}\r\n`;
}

export function csvLine(entry: LoggedRequestAnswer): string {
  return `${COLUMNS.map(([, value]) => cellOf(value(entry))).join(',')}\r\n`;
}

function cellOf(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
