/** The string formats that the contract's schemas use, with their checks and what refusals call them. */
import { isShareName, isUuid, parseName, parseShareTarget } from '#domain';

export interface StringFormat {
  readonly check: (text: string) => boolean;
  /** The word after "must be of". */
  readonly saidAs: string;
}

export const stringFormats = {
  uuid: { check: isUuid, saidAs: 'UUID' },
  name: { check: (text) => parseName(text) !== undefined, saidAs: 'string' },
  'share-name': { check: isShareName, saidAs: 'string' },
  'share-target': { check: (text) => parseShareTarget(text) !== undefined, saidAs: 'uri' },
  'service-name': { check: isServiceName, saidAs: 'string without @' },
  'terminator-address': { check: isTerminatorAddress, saidAs: 'tcp:host:port or tls:host:port' },
  uri: { check: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text), saidAs: 'uri' },
  'date-time': { check: isDateTime, saidAs: 'date-time' },
} as const satisfies Readonly<Record<string, StringFormat>>;

/** In what routers ask for, `INSTANCE@SERVICE`, the at sign ends the instance. */
function isServiceName(text: string): boolean {
  return parseName(text) !== undefined && !text.includes('@');
}

/** What a router's `transport` dialer dials; a host as share targets have it. */
function isTerminatorAddress(text: string): boolean {
  const hostPort = /^(?:tcp|tls):([^/]+:[0-9]{1,5})$/.exec(text)?.[1];
  return hostPort !== undefined && parseShareTarget(`http://${hostPort}`) !== undefined;
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** RFC 3339: what JSON Schema calls date-time. */
function isDateTime(text: string): boolean {
  const date = DATE_TIME.exec(text)?.[1];
  if (date === undefined || Number.isNaN(Date.parse(text))) return false;
  // 30 February parses, as a day of March.
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}
