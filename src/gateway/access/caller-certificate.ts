/** The client's certificate as access rules use it. */
import type { CallerCertificate, CompiledRules } from '#domain/access';
import type { ClientFacts } from '../circuits/route-decision.ts';

/** Whether the handshake requested no certificate, or named other authorities than the rules do now. */
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

/** Returns undefined if there is no trusted certificate. */
export function certificateOf({ clientCertificate }: ClientFacts): CallerCertificate | undefined {
  if (clientCertificate === undefined) return undefined;
  const { commonName, dnsNames, emails } = clientCertificate;
  const names = [...dnsNames, ...emails];
  return { isTrusted: true, names: commonName === undefined ? names : [commonName, ...names] };
}
