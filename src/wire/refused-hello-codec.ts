/**
 * Hellos that a router refused, as it reports them to a controller of ours: an Alert of a type of our own (ADR 0022). A
 * controller announces in the data of its ServerHello that it accepts them; others are not sent any.
 */
import type { CtrlBody, CtrlInit } from './ctrl-messages.ts';

/** The type of the alerts, and the key in the ServerHello's data. */
export const REFUSED_HELLO = 'frontdoor.refused-hello';

export interface RefusedHello {
  /** The leaf that the peer showed, DER in base64; empty: several peers, counted together. */
  readonly certificate: string;
  /** Address of the peer, without a port; empty: not known. */
  readonly address: string;
  /** A code such as `no-api-session`. */
  readonly reason: string;
  /** So many equal ones. */
  readonly occurrences: number;
}

type AlertInit = NonNullable<CtrlInit<'alerts'>['alerts']>[number];
type Alert = CtrlBody<'alerts'>['alerts'][number];

/** More than a certificate of ours takes. */
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

/** Undefined: an alert of another type, or one that nothing can be made of. */
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
