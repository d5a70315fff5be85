/**
 * Decides when certificates are obtained: the time of a renewal, the pause after a failure, and how many new ones a
 * zone and an organization may have, so that neither shares, handshakes nor one tenant can use up what a certificate
 * authority grants. ADR 0056.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The span over which new certificates are counted. */
export const COUNTED_MS = 7 * DAY_MS;
/** Certificates for names that had none, in one zone and span. Let's Encrypt grants 50 for a registered domain. */
export const MAX_NEW_PER_ZONE = 50;
/** One organization may have this many of them in a zone that it shares with others. */
export const MAX_OF_ORGANIZATION = 25;
/** The last ones of a zone are for organizations that have none there. */
const KEPT_FREE = 10;
/** The span over which orders of an organization are counted, also those that failed. */
export const ORDERS_MS = 3 * 3_600_000;
/** Let's Encrypt grants an account 300 orders in this span. */
const MAX_ORDERS = 250;
const MAX_ORDERS_OF_ORGANIZATION = 50;
/** Names of one organization that wait, and orders of it at once, where there are others. */
export const MAX_WAITING_OF_ORGANIZATION = 30;
const MAX_RUNNING_OF_ORGANIZATION = 1;
/** Without others. */
const MAX_RUNNING_ALONE = 2;
/** A renewal is due after this part of the lifetime, and up to `SPREAD` of the lifetime later. */
const RENEWED_AFTER = 2 / 3;
const SPREAD = 1 / 20;
const FIRST_PAUSE_MS = MINUTE_MS;
export const LONGEST_PAUSE_MS = DAY_MS;
/** Five attempts in the first hour: Let's Encrypt grants five failed validations of a name per hour. */
const PAUSE_FACTOR = 3;
const PAUSE_JITTER = 0.2;

export interface CertificateTimes {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** SHA-256 in the form of X.509 tools. It spreads renewals, and every process computes the same time from it. */
  readonly fingerprint: string;
}

/** Unix milliseconds. */
export function renewalAtMs({ notBeforeMs, notAfterMs, fingerprint }: CertificateTimes): number {
  const part = Number.parseInt(fingerprint.slice(0, 5).replace(':', ''), 16) / 0xffff;
  return notBeforeMs + (notAfterMs - notBeforeMs) * (RENEWED_AFTER + SPREAD * part);
}

/** The time until the next attempt for a name, after so many failures in a row. `random` is from 0 to 1. */
export function pauseMs(failures: number, random: number): number {
  const plain = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * PAUSE_FACTOR ** Math.max(0, failures - 1));
  return Math.round(plain * (1 - PAUSE_JITTER + 2 * PAUSE_JITTER * random));
}

/** Counts include the orders that have not ended. */
export interface OrderCounts {
  /** New certificates of the zone in `COUNTED_MS`, and those of the organization among them. */
  readonly inZone: number;
  readonly inZoneOfOrganization: number;
  /** Orders in `ORDERS_MS`. */
  readonly ofOrganization: number;
}

/** Whose name it is, which decides about the bounds. */
export interface NameOwnership {
  /** Whether the zone is a custom frontend of the organization. */
  readonly isCustom: boolean;
  /** Whether no other organization has shares here. */
  readonly isAlone: boolean;
  /** The registrable domain of a share's domain, which counts there and pauses by itself; undefined for a name in a zone. */
  readonly domain?: string;
}

/** The bound that a new name would pass, in words; undefined if it may be ordered. */
export function passedBound(
  counts: OrderCounts,
  { isAlone, isCustom, domain }: NameOwnership,
): string | undefined {
  const { inZone, inZoneOfOrganization, ofOrganization } = counts;
  if (inZone >= MAX_NEW_PER_ZONE) return 'its zone has had too many new ones';
  if (ofOrganization >= (isAlone ? MAX_ORDERS : MAX_ORDERS_OF_ORGANIZATION))
    return 'its organization has had too many orders';
  if (isAlone || isCustom || domain !== undefined) return undefined;
  if (inZoneOfOrganization >= MAX_OF_ORGANIZATION)
    return 'its organization has had too many new ones in the zone';
  if (inZone >= MAX_NEW_PER_ZONE - KEPT_FREE && inZoneOfOrganization > 0)
    return 'the last new ones of the zone are for organizations without one';
  return undefined;
}

/** The number of orders that an organization may have at once. */
export function maxRunning({ isAlone }: Pick<NameOwnership, 'isAlone'>): number {
  return isAlone ? MAX_RUNNING_ALONE : MAX_RUNNING_OF_ORGANIZATION;
}

/** The name whose new certificates are counted together: a zone, or the registrable domain of a share's domain. */
export function countedZone({
  name,
  domain,
}: Pick<NameOwnership, 'domain'> & { readonly name: string }): string {
  return domain ?? zoneOf(name);
}

/** The zone of `name.zone` or `*.zone`. */
export function zoneOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}
