/** Operations whose caller has no API credential yet: the bootstrap token, and three of the token issuer. */
import type { IncomingMessage } from 'node:http';
import { FrontdoorError } from '#base';
import { hasBody } from '#net/http';
import {
  issuerMetadata,
  issueToken,
  PUBLISHED_AHEAD_MS,
  type TokenParameters,
} from '../../credentials/oauth/mod.ts';
import { findByCode, mintJti } from '../../overlay/enrollments/mod.ts';
import { tooMany } from './api-errors.ts';
import { isMediaType, parseJson, type ReadBody } from './body-reader.ts';
import { isoTime, ok, unstored, type ApiAnswer, type ApiParts, type Handlers } from './call.ts';

type CredentialParts = Pick<
  ApiParts,
  | 'store'
  | 'access'
  | 'secrets'
  | 'keys'
  | 'originKeys'
  | 'loginFailures'
  | 'callerUses'
  | 'clock'
  | 'mintEnrollmentJwt'
  | 'tokenPolicy'
>;

export const credentialHandlers: Handlers<
  CredentialParts,
  'getBootstrapToken' | 'issueToken' | 'getTokenKeys' | 'getOriginKeys' | 'getIssuerMetadata'
> = {
  /** Each call mints a JWT and consumes nothing. Every code that cannot be used gets the same response. */
  async getBootstrapToken(parts, call) {
    const { secrets, store, clock } = parts;
    const { enrollmentCode } = call.parameters;
    const enrollment = await findByCode(store.db, secrets, enrollmentCode, clock.nowMs());
    if (enrollment === undefined || enrollment.ownerId === null) {
      throw new FrontdoorError('notFound', 'not-found', 'Enrollment code not found');
    }
    const token = await parts.mintEnrollmentJwt({
      subject: enrollment.identityId,
      jti: mintJti(secrets, enrollment.id),
      method: 'ott',
      expiresAtMs: enrollment.expiresAtMs,
    });
    const { ownerId: frontdoorId, expiresAtMs } = enrollment;
    return unstored(ok({ frontdoorId, token, expiresAt: isoTime(expiresAtMs) }));
  },

  async issueToken(parts, call) {
    const { store, access, secrets, keys, loginFailures, callerUses, clock } = parts;
    const parameters = await parametersOf(call.request, call.readBody);
    const sources = { store, access, secrets, keys, failures: loginFailures, callerUses, clock };
    const policy = parts.tokenPolicy();
    const answer = await issueToken(sources, policy, parameters, call.authorization, call.address);
    if (answer.ok === 'later') throw tooMany(Math.ceil(answer.afterMs / 1_000));
    if (answer.ok) return unstored(ok(answer.body));
    const challenge = answer.status === 401 ? { 'www-authenticate': 'Basic realm="token"' } : {};
    const body = { error: answer.error, message: answer.message };
    return unstored({ status: answer.status, body, headers: challenge });
  },

  /** May be cached for as long as a new key is published before it signs. */
  async getTokenKeys(parts) {
    return keySet({ keys: parts.keys.valid().map((key) => key.jwk) });
  },

  async getOriginKeys(parts) {
    return keySet(parts.originKeys.published());
  },

  async getIssuerMetadata(parts) {
    return ok(issuerMetadata(parts.tokenPolicy().issuer));
  },
};

function keySet(body: object): ApiAnswer<object> {
  const headers = { 'cache-control': `public, max-age=${PUBLISHED_AHEAD_MS / 1_000}` };
  return { status: 200, body, headers };
}

async function parametersOf(request: IncomingMessage, readBody: ReadBody): Promise<TokenParameters> {
  const contentType = request.headers['content-type'];
  const isForm = isMediaType(contentType, 'application/x-www-form-urlencoded');
  if (
    !isForm &&
    !isMediaType(contentType, 'application/json') &&
    (hasBody(request) || contentType !== undefined)
  ) {
    throw new FrontdoorError(
      'unsupportedType',
      'unsupported-media-type',
      'Content-Type must be application/json or application/x-www-form-urlencoded',
    );
  }
  const bytes = await readBody();
  const parameters = new Map<string, unknown>();
  if (isForm) {
    for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
      if (parameters.has(name)) return undefined;
      parameters.set(name, value);
    }
    return parameters;
  }
  const json = parseJson(bytes);
  if (
    json === undefined ||
    typeof json.value !== 'object' ||
    json.value === null ||
    Array.isArray(json.value)
  ) {
    return undefined;
  }
  for (const [name, value] of Object.entries(json.value)) parameters.set(name, value);
  return parameters;
}
