/** One-time passwords (TOTP) of the caller's identity: enrollment, removal and recovery codes; and the log-in's second step. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Identity } from '../../overlay/model/mod.ts';
import { newRecoveryCodes, provisioningUrlOf, qrPictureOf } from '../../credentials/totp/mod.ts';
import {
  EdgeApiRefusal,
  limited,
  notAuthorized,
  notFound,
  sendData,
  appendPeerAudit,
  bodyRule,
  tokenOf,
  type EdgeCaller,
  jsonBody,
} from '../../overlay/clients/mod.ts';
import type { EdgeContext, SignInContext } from './edge-context.ts';
import { OIDC_PATH } from './information-routes.ts';
import type { LogInProof } from './log-in.ts';
import { openPartial, provenPartial } from './partial-opening.ts';
import type { PartialLogIn } from './partial-log-ins.ts';
import { passMfa } from './posture-routes.ts';
import type { AlsoWrite, CodeCheck } from './second-factors.ts';
import { isoTime } from './service-view.ts';

export type TotpContext = SignInContext & Pick<EdgeContext, 'edgeTokens' | 'addresses'>;

const PATH = '/current-identity/mfa';
const CODE_HEADER = 'mfa-validation-code';
/** A code in JSON. */
const MAX_CODE_BYTES = 1_024;
const CODE_RULE = { config: bodyRule({ maxUnprovenBytes: MAX_CODE_BYTES }) };

/** The identity that enrolls. `partial` and `proof` are those of a log-in that waits for the enrollment. */
interface Enroller extends Pick<EdgeCaller, 'identity'> {
  readonly session?: EdgeCaller['session'];
  readonly partial?: PartialLogIn;
  readonly proof?: LogInProof;
}

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addTotpRoutes(app: FastifyInstance, context: TotpContext): void {
  addEnrollmentRoutes(app, context);
  addEnrollmentEnds(app, context);
  addRecoveryRoutes(app, context);
  addProofRoutes(app, context);
}

/** Begins an enrollment, and shows what an app needs to complete it. */
function addEnrollmentRoutes(app: FastifyInstance, context: TotpContext): void {
  const { secondFactors } = context.signIn;

  app.post(PATH, CODE_RULE, async (request, reply) => {
    const caller = await enrollerOf(context, request);
    const begun = await secondFactors.begin(
      caller.identity.id,
      totpAudit(context, request, caller.identity, 'enrollTotp'),
    );
    if (begun === undefined)
      throw new EdgeApiRefusal('conflict', 'MFA_EXISTS', 'An MFA record already exists, try removing it');
    return sendData(reply, { id: begun.id, _links: { self: { href: `.${PATH}` } } }, 201);
  });

  app.get(PATH, async (request, reply) => {
    const { identity } = await enrollerOf(context, request);
    const totp = await secondFactors.find(identity.id);
    if (totp === undefined) throw notFound();
    const { id, isVerified, recoveryCodes, createdAtMs, updatedAtMs } = totp;
    return sendData(reply, {
      _links: { self: { href: `.${PATH}` } },
      id,
      createdAt: isoTime(createdAtMs),
      updatedAt: isoTime(updatedAtMs),
      tags: {},
      isVerified,
      // Shown only until the enrollment is complete.
      ...(isVerified
        ? {}
        : { provisioningUrl: provisioningUrlOf(totp.secret, identity.name), recoveryCodes }),
    });
  });

  // The secret is in it, so it is shown only until the enrollment is complete.
  app.get(`${PATH}/qr-code`, async (request, reply) => {
    const { identity } = await enrollerOf(context, request);
    const totp = await secondFactors.find(identity.id);
    if (totp === undefined || totp.isVerified) throw notFound();
    const png = qrPictureOf(provisioningUrlOf(totp.secret, identity.name));
    return reply.header('content-type', 'image/png').header('cache-control', 'no-store').send(png);
  });
}

/** Completes an enrollment, and removes one. */
function addEnrollmentEnds(app: FastifyInstance, context: TotpContext): void {
  const { secondFactors } = context.signIn;

  app.post(`${PATH}/verify`, CODE_RULE, async (request, reply) => {
    const caller = await enrollerOf(context, request);
    const rule = { recovery: false, isVerified: false };
    const also = totpAudit(context, request, caller.identity, 'verifyTotp');
    accept(await secondFactors.check(caller.identity.id, codeOf(request), rule, undefined, also));
    const { partial, proof, session } = caller;
    if (partial !== undefined && proof !== undefined)
      await openPartial(context, request, partial, proof, true);
    else if (session !== undefined) await passMfa(context, session.id);
    return sendData(reply, {});
  });

  app.delete(PATH, async (request, reply) => {
    const caller = await enrollerOf(context, request);
    const { id } = caller.identity;
    const also = totpAudit(context, request, caller.identity, 'removeTotp');
    if (await secondFactors.abandon(id, also)) return sendData(reply, {});
    if (secondFactors.isDemanded(id))
      throw new EdgeApiRefusal('conflict', 'MFA_REQUIRED', 'The authentication policy requires MFA');
    const rule = { recovery: true, isVerified: true };
    accept(await secondFactors.check(id, request.headers[CODE_HEADER], rule, () => 'delete', also));
    await context.signIn.sessions.forgetMfa(id);
    return sendData(reply, {});
  });
}

function addRecoveryRoutes(app: FastifyInstance, context: TotpContext): void {
  const { secondFactors } = context.signIn;

  // Only a code of the app opens them: a recovery code would open all others.
  app.get(`${PATH}/recovery-codes`, async (request, reply) => {
    const { identity } = context.callers.callerOf(request);
    const rule = { recovery: false, isVerified: true };
    const { id, recoveryCodes } = accept(
      await secondFactors.check(identity.id, request.headers[CODE_HEADER], rule),
    );
    return sendData(reply, { _links: { self: { href: `.${PATH}/recovery-codes` } }, id, recoveryCodes });
  });

  app.post(`${PATH}/recovery-codes`, async (request, reply) => {
    const caller = context.callers.callerOf(request);
    const rule = { recovery: true, isVerified: true };
    const also = totpAudit(context, request, caller.identity, 'replaceRecoveryCodes');
    const change = <T extends object>(totp: T) => ({ ...totp, recoveryCodes: newRecoveryCodes() });
    accept(await secondFactors.check(caller.identity.id, codeOf(request), rule, change, also));
    return sendData(reply, {});
  });
}

/** Takes codes as proofs: for routers, and as the second step of a log-in. */
function addProofRoutes(app: FastifyInstance, context: TotpContext): void {
  const { edgeTokens, clock, log } = context;
  const { secondFactors } = context.signIn;

  // A proof for routers that check posture.
  app.post('/current-api-session/totp-token', async (request, reply) => {
    const { identity, session } = context.callers.callerOf(request);
    const rule = { recovery: false, isVerified: true };
    accept(await secondFactors.check(identity.id, codeOf(request), rule));
    const issuedAt = isoTime(clock.nowMs());
    return sendData(
      reply,
      {
        token: edgeTokens.sessionTokens.mintTotp(session, `${context.addresses.apiUrl()}${OIDC_PATH}`),
        issuedAt,
      },
      201,
    );
  });

  app.post('/authenticate/mfa', CODE_RULE, async (request, reply) => {
    const partial = context.signIn.partialLogIns.of(tokenOf(request));
    if (partial === undefined) {
      const { identity, session } = context.callers.callerOf(request);
      accept(await secondFactors.check(identity.id, codeOf(request), { recovery: true, isVerified: true }));
      await passMfa(context, session.id);
      return sendData(reply, {});
    }
    const { identityId } = partial;
    const proof = await provenPartial(context, request, partial);
    const fields = { identity: identityId, address: request.ip };
    const checked = await secondFactors.check(identityId, codeOf(request), {
      recovery: true,
      isVerified: true,
    });
    if (!checked.ok) log.info(fields, 'edge API: second factor of a log-in refused');
    accept(checked);
    await openPartial(context, request, partial, proof, true);
    return sendData(reply, {});
  });
}

/** The caller, which may be in a log-in whose policy demands that it enrolls. */
async function enrollerOf(context: TotpContext, request: FastifyRequest): Promise<Enroller> {
  const { signIn } = context;
  const token = tokenOf(request);
  const isWhole = signIn.sessions.byToken(token) !== undefined;
  const partial = isWhole ? undefined : signIn.partialLogIns.of(token);
  if (partial === undefined) return context.callers.callerOf(request);
  const proof = await provenPartial(context, request, partial);
  if ((await signIn.secondFactors.needOf(partial.identityId)) !== 'enrollment') throw notAuthorized();
  return { identity: proof.identity, partial, proof };
}

/** Writes the audit event of a change that an identity makes to its own second factor. */
export function totpAudit(
  context: SignInContext,
  request: FastifyRequest,
  identity: Identity,
  action: string,
): AlsoWrite {
  const target = { kind: identity.kind, id: identity.id };
  return (trx, touch) => appendPeerAudit(trx, touch, context, request, { identity }, { action, target });
}

function codeOf(request: FastifyRequest): unknown {
  return jsonBody(request).code;
}

/** Returns the record of an accepted code. @throws EdgeApiRefusal for any other. */
export function accept(checked: CodeCheck): Extract<CodeCheck, { ok: true }>['totp'] {
  if (checked.ok) return checked.totp;
  if ('waitMs' in checked) throw limited(checked.waitMs);
  if (checked.reason === 'none')
    throw new EdgeApiRefusal('conflict', 'MFA_NOT_ENROLLED', 'The current identity is not enrolled in MFA');
  throw new EdgeApiRefusal('invalid', 'MFA_INVALID_TOKEN', 'An invalid token/code was provided');
}
