/** Enrollment of a second factor during a log-in through OpenID Connect, when the authentication policy demands one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { provisioningUrlOf } from '../../credentials/totp/mod.ts';
import { EdgeApiRefusal, notAuthorized, sendJson, type bodyRule } from '../../overlay/clients/mod.ts';
import type { SignInContext } from './edge-context.ts';
import type { AuthorizationRequest, LoggedInRequest } from './oidc-requests.ts';
import { OIDC_PATH } from './information-routes.ts';
import { isoTime } from './service-view.ts';
import { accept, totpAudit } from './totp-routes.ts';

export interface OidcLogIns {
  /** Reads the body, which is a form or JSON. */
  readonly fieldsOf: (request: FastifyRequest) => Readonly<Record<string, unknown>>;
  readonly requestOf: (id: string) => AuthorizationRequest | undefined;
  /** Ends the log-in. */
  readonly finish: (request: FastifyRequest, reply: FastifyReply, login: LoggedInRequest) => FastifyReply;
}

export function addOidcTotpEnrollment(
  app: FastifyInstance,
  context: SignInContext,
  rule: { readonly config: ReturnType<typeof bodyRule> },
  { fieldsOf, requestOf, finish }: OidcLogIns,
): void {
  const { model } = context;
  const { sessions, secondFactors } = context.signIn;

  /** The log-in that waits for the enrollment. */
  const waiting = async (request: FastifyRequest) => {
    const { id, code } = fieldsOf(request);
    const asked = requestOf(typeof id === 'string' ? id : '');
    const session = asked && (await sessions.findById(asked.sessionId));
    const identity = session && model.identity(session.identityId);
    if (asked === undefined || session?.form !== 'pending' || identity === undefined) throw notAuthorized();
    if ((await secondFactors.needOf(identity.id)) !== 'enrollment') throw enrolledAlready();
    const recorded = (action: string) => totpAudit(context, request, identity, action);
    return { asked, session, identity, code, recorded };
  };

  app.post(`${OIDC_PATH}/login/totp/enroll`, rule, async (request, reply) => {
    const { identity, recorded } = await waiting(request);
    // An enrollment that was begun and not completed is replaced.
    await secondFactors.abandon(identity.id, recorded('removeTotp'));
    const begun = await secondFactors.begin(identity.id, recorded('enrollTotp'));
    if (begun === undefined) throw enrolledAlready();
    const { id, recoveryCodes, createdAtMs, updatedAtMs } = begun;
    return sendJson(reply, 201, {
      id,
      isVerified: false,
      recoveryCodes,
      createdAt: isoTime(createdAtMs),
      updatedAt: isoTime(updatedAtMs),
      provisioningUrl: provisioningUrlOf(begun.secret, identity.name),
    });
  });

  app.post(`${OIDC_PATH}/login/totp/enroll/verify`, rule, async (request, reply) => {
    const { asked, session, identity, code, recorded } = await waiting(request);
    const first = { recovery: false, isVerified: false };
    accept(await secondFactors.check(identity.id, code, first, undefined, recorded('verifyTotp')));
    return finish(request, reply, { ...asked, identityId: identity.id, method: session.method });
  });
}

function enrolledAlready(): EdgeApiRefusal {
  return new EdgeApiRefusal('conflict', 'MFA_EXISTS', 'An MFA record already exists, try removing it');
}
