/** The string formats that the contract's schemas use, with their checks and what refusals call them. */
import {
  isCertificateName,
  isShareName,
  isUuid,
  isZoneName,
  parseAddress,
  parseEmailPattern,
  parseIpNetwork,
  parseIsoDuration,
  parseName,
  parsePathPattern,
  parseShareTarget,
  parseWebOrigin,
} from '#domain';

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
  span: { check: isSpan, saidAs: 'duration' },
  'email-pattern': {
    check: (text) => parseEmailPattern(text) !== undefined,
    saidAs: 'name@domain or *@domain',
  },
  'ip-network': { check: (text) => parseIpNetwork(text) !== undefined, saidAs: 'address or CIDR' },
  'ip-address': { check: (text) => parseAddress(text) !== undefined, saidAs: 'address' },
  'path-pattern': { check: (text) => parsePathPattern(text) !== undefined, saidAs: '/path or /path/*' },
  'basic-user': { check: isBasicUser, saidAs: 'string without :' },
  'certificate-name': { check: isCertificateName, saidAs: 'name or *@domain' },
  'certificate-pem': { check: isCertificatePem, saidAs: 'PEM certificate' },
  'web-origin': { check: (text) => parseWebOrigin(text) !== undefined, saidAs: 'https://host origin' },
  contact: { check: isContact, saidAs: 'e-mail address or web address' },
  'zone-name': { check: isZoneName, saidAs: 'hostname' },
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

const MAX_SPAN_MS = 365 * 86_400_000;

/** How long something lasts: from a second to a year. */
function isSpan(text: string): boolean {
  const ms = parseIsoDuration(text);
  return ms !== undefined && ms >= 1_000 && ms <= MAX_SPAN_MS;
}

/** The colon ends a name in what browsers send (RFC 7617). */
function isBasicUser(text: string): boolean {
  return text.length > 0 && text.length <= 255 && !/[:\p{Cc}]/u.test(text);
}

const MAX_CONTACT = 254;
/** Nothing that a page or a header would have to escape. */
const CONTACT =
  /^(?:[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,189}|https?:\/\/[A-Za-z0-9._~:/?#@!$()*+,;=%[\]-]{1,246})$/;

function isContact(text: string): boolean {
  return text.length <= MAX_CONTACT && CONTACT.test(text);
}

const MAX_PEM = 16_384;
const PEM =
  /^\s*-----BEGIN CERTIFICATE-----\r?\n(?:[A-Za-z0-9+/]{1,76}={0,2}\r?\n){1,400}-----END CERTIFICATE-----\s*$/;

/** The form alone: whether it is a certificate is found out where it is stored. */
function isCertificatePem(text: string): boolean {
  return text.length <= MAX_PEM && PEM.test(text);
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/** RFC 3339: what JSON Schema calls date-time. */
function isDateTime(text: string): boolean {
  const date = DATE_TIME.exec(text)?.[1];
  if (date === undefined || Number.isNaN(Date.parse(text))) return false;
  // 30 February parses, as a day of March.
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
}
