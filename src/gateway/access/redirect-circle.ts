/**
 * Recognizes requests that a redirect to HTTPS would send in circles: a proxy in front of the gateway terminates TLS, and
 * the gateway does not know it. ADR 0088.
 */
import type { Failure } from '../answers/failure-table.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { headerValue } from '../http/header-name.ts';

const SCHEME_HEADER = 'x-forwarded-proto';

/** `client` does not use HTTPS, as far as the gateway knows. Returns undefined if a redirect leads there. */
export function circleOf({ fields }: RequestHead, client: ClientFacts): Failure | undefined {
  const reported = headerValue(fields, SCHEME_HEADER).toLowerCase();
  if (client.isTrustedProxy) {
    const isSilent = reported === '' && headerValue(fields, 'forwarded') === '';
    return isSilent ? circle('the trusted proxy sends no X-Forwarded-Proto') : undefined;
  }
  if (reported !== 'https') return undefined;
  return circle(`${client.address} sends X-Forwarded-Proto: https, but is not one of --trusted-proxies`);
}

function circle(cause: string): Failure {
  return {
    status: 502,
    code: 'proxy-scheme-unknown',
    hop: 'gateway',
    message:
      'This page requires HTTPS, and a proxy in front of this gateway does not report whether you use it. The operators can find the remedy by the error ID.',
    cause,
  };
}
