/** Checks time, address and certificate of a request's client, and finds callers that a certificate identifies. */
import { decideNetwork, type CallerCertificate } from '#domain/access';
import { FAILURES, type Failure } from '../answers/failure-table.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import { failureOfAccess } from './access-failure-table.ts';
import { certificateOf, isUnasked } from './caller-certificate.ts';
import { CertificateCaller } from './caller-kinds.ts';

export class NetworkCheck {
  readonly #callers = new WeakMap<ClientFacts, CertificateCaller>();
  /** Reused for each rule evaluation. */
  readonly #facts: { nowMs: number; address: string; certificate: CallerCertificate | undefined } = {
    nowMs: 0,
    address: '',
    certificate: undefined,
  };

  refusalOf(host: GatewayHost, client: ClientFacts, nowMs: number): Failure | undefined {
    const { rules } = host.route;
    const facts = this.#facts;
    facts.nowMs = nowMs;
    facts.address = client.address;
    facts.certificate = undefined;
    if (rules.needsCertificate) {
      // The client must open a new connection, which requests a certificate of the current authorities.
      if (isUnasked(client, rules)) return FAILURES.misdirected;
      facts.certificate = certificateOf(client);
    }
    const reason = decideNetwork(rules, facts);
    return reason === undefined ? undefined : failureOfAccess(reason, client.clientCertificateProblem);
  }

  /** Undefined unless the rules of the host require a certificate. */
  callerOf(host: GatewayHost, client: ClientFacts): CertificateCaller | undefined {
    const { clientCertificate } = client;
    if (!host.route.rules.needsCertificate || clientCertificate === undefined) return undefined;
    let caller = this.#callers.get(client);
    if (caller === undefined) {
      caller = new CertificateCaller(clientCertificate);
      this.#callers.set(client, caller);
    }
    return caller;
  }
}
