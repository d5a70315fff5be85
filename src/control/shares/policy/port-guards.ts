/**
 * Guards that a public share of a stream cannot have: nobody can sign in there, send a key or a password, or, but where TLS ends at
 * the gateway, show a certificate, because gateways do not read what its clients send. Such a share is refused rather than served
 * without them. ADR 0119.
 */
import { FrontdoorError } from '#base';
import type { Share } from '#domain';
import { isPublicStream } from '#domain/backend-modes';
import type { StoredPolicy } from './stored-policy.ts';

type StreamShare = Pick<Share, 'token' | 'shareMode' | 'backendMode' | 'ingress' | 'authProviderIds'>;

/** Whether a rule of the policy needs callers that show who they are. */
export function needsCallers({ policy }: StoredPolicy): boolean {
  return callerFieldsOf(policy).length > 0;
}

/** Throws `conflict` if the share is a stream, and has guards that need callers that show who they are. */
export function checkPortGuards(share: StreamShare, stored: StoredPolicy | undefined): void {
  if (!isPublicStream(share.shareMode, share.backendMode)) return;
  const found = stored === undefined ? [] : callerFieldsOf(stored.policy);
  // Where TLS ends at the gateway, it asks for the certificate.
  const fields = share.ingress === 'tls' ? found.filter((field) => field !== 'clientCertificate') : found;
  const providers = share.authProviderIds.length > 0 ? ['auth providers'] : [];
  const guards = [...providers, ...fields];
  if (guards.length === 0) return;
  throw new FrontdoorError(
    'conflict',
    'port-needs-no-sign-in',
    `Share ${share.token} is public with a target that is not HTTP: nobody can sign in there, so it cannot have ${guards.join(', ')}. ` +
      'Remove them and restrict it by addresses (ipAllow, ipDeny), or make it private and grant it to environments',
  );
}

function callerFieldsOf({
  emails,
  claims,
  basicAuth,
  clientCertificate,
}: StoredPolicy['policy']): readonly string[] {
  const set = {
    emails: emails.length > 0,
    claims: claims.length > 0,
    basicAuth: basicAuth.length > 0,
    clientCertificate: clientCertificate !== null,
  };
  return Object.entries(set).flatMap(([name, isSet]) => (isSet ? [name] : []));
}
