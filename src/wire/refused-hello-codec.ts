/**
 * Reports of a router to a controller of Frontdoor about hellos that it refused: an Alert of our own type (ADR 0022).
 * A controller announces in its ServerHello that it accepts them; other controllers receive none.
 */
import type { CtrlBody, CtrlInit } from './ctrl-messages.ts';

/** The type of the alerts, and the key in the ServerHello's data. */
export const REFUSED_HELLO = 'frontdoor.refused-hello';

export interface RefusedHello {
  /** The peer's leaf certificate, DER in base64. Empty if several peers are counted together. */
  readonly certificate: string;
  /** The peer's address without a port. Empty if not known. */
  readonly address: string;
  /** A code such as `no-api-session`. */
  readonly reason: string;
  /** The number of equal refusals. */
  readonly occurrences: number;
}

type AlertInit = NonNullable<CtrlInit<'alerts'>['alerts']>[number];
type Alert = CtrlBody<'alerts'>['alerts'][number];

/** Longer than any certificate of Frontdoor. */
const MAX_CERTIFICATE_CHARACTERS = 8_192;
const MAX_OCCURRENCES = 1_000_000;
const REASON = /^[a-z0-9-]{1,64}$/;
const ADDRESS = /^[0-9A-Fa-f.:]{0,45}$/;

export function refusedHelloAlert(routerId: string, hello: RefusedHello, nowMs: number): AlertInit {
  const { certificate, address, reason, occurrences } = hello;
  return {
    sourceType: REFUSED_HELLO,
    sourceId: routerId,
    timestamp: BigInt(nowMs),
    severity: 'warning',
    message: reason,
    relatedEntities: { certificate, address, occurrences: String(occurrences) },
  };
}

/** Returns undefined for an alert of another type, or a malformed one. */
export function parseRefusedHello({ sourceType, message, relatedEntities }: Alert): RefusedHello | undefined {
  const { certificate = '', address = '', occurrences = '' } = relatedEntities;
  const count = Number(occurrences);
  const isWhole =
    sourceType === REFUSED_HELLO &&
    REASON.test(message) &&
    ADDRESS.test(address) &&
    certificate.length <= MAX_CERTIFICATE_CHARACTERS &&
    Number.isInteger(count) &&
    count >= 1 &&
    count <= MAX_OCCURRENCES;
  return isWhole ? { certificate, address, reason: message, occurrences: count } : undefined;
}
