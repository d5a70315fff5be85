/** A client's certificate as access rules ask about it. */
import type { CallerCertificate, CompiledRules } from '#domain';
import type { ClientFacts } from '../circuits/route-decision.ts';

/** Its handshake asked for no certificate, or named other authorities than the rules do now. */
export function isUnasked(client: ClientFacts, { rules }: CompiledRules): boolean {
  if (!client.isSecure) return false;
  const { clientCertificate: shown, clientCertificateProblem: problem } = client;
  if (shown === undefined) return problem === undefined;
  const authorities = rules.clientCertificate?.authorities ?? [];
  return (
    shown.authorities !== authorities &&
    (shown.authorities.length !== authorities.length ||
      !shown.authorities.every((pem, i) => pem === authorities[i]))
  );
}

/** Undefined: none that is believed. */
export function certificateOf({ clientCertificate }: ClientFacts): CallerCertificate | undefined {
  if (clientCertificate === undefined) return undefined;
  const { commonName, dnsNames, emails } = clientCertificate;
  const names = [...dnsNames, ...emails];
  return { isTrusted: true, names: commonName === undefined ? names : [commonName, ...names] };
}
