/** Audit events of the edge API: changes by machines, and their refusals. */
import type { FastifyRequest } from 'fastify';
import {
  appendMachineAudit,
  type AuditParts,
  type AuditTarget,
  type RefusalRecorder,
} from '../../audit/mod.ts';
import { reasonOf, refusedIdentity } from './refused-identity.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import type { EdgeApiRefusal } from './edge-answer.ts';
import type { ProvenPeer, PeerIdentities } from './peer-identity.ts';

export interface MachineChange {
  readonly action: string;
  readonly target: AuditTarget;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly occurrences?: number;
}

/** Appends an event about an authenticated machine, inside the transaction of the change. */
export function appendPeerAudit(
  trx: Queries,
  touch: Touch,
  parts: AuditParts,
  request: FastifyRequest,
  { identity }: Pick<ProvenPeer, 'identity'>,
  change: MachineChange,
): Promise<void> {
  return appendMachineAudit(trx, touch, parts, {
    ...change,
    ownerId: identity.ownerId,
    actor: { kind: identity.kind, id: identity.id },
    address: request.ip,
  });
}

const STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);
const RECORDED_CODES: ReadonlySet<string> = new Set([
  'INVALID_ENROLLMENT_TOKEN',
  'COULD_NOT_PROCESS_CSR',
  'CERT_FAILED_VALIDATION',
  'INVALID_ENROLLMENT_NOT_ALLOWED',
  'MFA_INVALID_TOKEN',
]);
/** Action names by method and route. Other calls are recorded under method and route. */
const ACTIONS: Readonly<Record<string, string>> = {
  'POST /authenticate': 'logIn',
  'POST /oidc/login/cert': 'logIn',
  'POST /authenticate/mfa': 'logIn',
  'POST /oidc/login/totp': 'logIn',
  'POST /oidc/login/ext-jwt': 'logIn',
  'POST /oidc/login/username': 'logIn',
  'POST /oidc/login/password': 'logIn',
  'POST /current-api-session/certificates': 'issueSessionCertificate',
  'POST /edge/management/v1/authenticate': 'logInAdministrator',
  'POST /enroll': 'enroll',
  'POST /enroll/ott': 'enroll',
  'POST /enroll/updb': 'enroll',
  'POST /enroll/ottca': 'enroll',
  'POST /enroll/ca': 'enroll',
  'POST /enroll/token': 'enroll',
  'POST /enroll/extend/identity': 'renewCertificate',
  'POST /enroll/extend/router': 'renewCertificate',
};

/** Records a refusal that concerns a credential, a permission, an enrollment, or a rate limit. */
export function recordEdgeRefusal(
  recorder: Pick<RefusalRecorder, 'record'>,
  { peers, model }: { readonly peers: Pick<PeerIdentities, 'of'>; readonly model: OverlayModel },
  request: FastifyRequest,
  refusal: EdgeApiRefusal,
): void {
  if (!STATUSES.has(refusal.status) && !RECORDED_CODES.has(refusal.code)) return;
  const proof = peers.of(request.raw.socket);
  const leaf = 'problem' in proof ? proof.signed : proof.peer.leaf;
  const route = (request.routeOptions.url ?? '').replace(/^\/edge\/client\/v1(?=\/)/, '');
  const call = `${request.method} ${route}`;
  recorder.record({
    ...refusedIdentity(model, leaf),
    action: ACTIONS[call] ?? call,
    address: request.ip,
    reason:
      refusal.reason ?? ('problem' in proof && leaf !== undefined ? reasonOf(proof.problem) : refusal.code),
  });
}
