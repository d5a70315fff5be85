/**
 * The client-credentials grant (RFC 6749 §4.4): credentials in, a signed bearer token out. Bodies are JSON or
 * forms; clients send their secret in the body or with HTTP Basic. Errors have the codes of RFC 6749 §5.2.
 */
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '#base';
import type { AnswerOf, TokenErrorWord } from '#contract';
import { isUuid, SCOPES } from '#domain';
import { appendAudit, type AuditEntry } from '../../audit/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { callerKey, provenBySecret, type ApiCaller, type ProvenCaller } from '../accounts/account-store.ts';
import type { CallerDirectory } from '../accounts/caller-directory.ts';
import type { LastUses, Store } from '../../store/mod.ts';
import { authorizationForm } from './authorization-policy.ts';
import { textOfBase64 } from './base64-text.ts';
import type { LoginFailures } from './login-failures.ts';
import type { TokenPolicy } from './principal.ts';
import type { TokenKeys } from './token-keys.ts';
import { TOKEN_LIFETIME_SECONDS } from './token-lifetimes.ts';

/** Replaces a text that is not an id, and that the database might not accept. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

export type TokenAnswer =
  | { readonly ok: true; readonly body: AnswerOf<'issueToken'> }
  | {
      readonly ok: false;
      readonly status: 400 | 401;
      readonly error: TokenErrorWord;
      readonly message: string;
    }
  /** Too many wrong secrets for this client from this address. */
  | { readonly ok: 'later'; readonly afterMs: number };

export interface TokenSources {
  readonly store: Store;
  readonly access: CallerDirectory;
  readonly secrets: Secrets;
  readonly keys: TokenKeys;
  readonly failures: LoginFailures;
  readonly callerUses: Pick<LastUses, 'saw'>;
  readonly clock: Clock;
}

/** Parameters by name; undefined if the body was unreadable or repeated a name. */
export type TokenParameters = ReadonlyMap<string, unknown> | undefined;

export async function issueToken(
  sources: TokenSources,
  policy: TokenPolicy,
  parameters: TokenParameters,
  authorization: readonly string[],
  address: string,
): Promise<TokenAnswer> {
  if (parameters === undefined)
    return refused('invalid_request', 'The body is not readable or names a field twice');
  const values = new Map<string, string>();
  for (const name of ['grant_type', 'client_id', 'client_secret', 'audience', 'scope']) {
    const value = parameters.get(name);
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') return refused('invalid_request', `Value for ${name} must be of string`);
    values.set(name, value);
  }
  const grantType = values.get('grant_type');
  if (grantType === undefined) return refused('invalid_request', 'Value for grant_type must be of string');
  if (grantType !== 'client_credentials') {
    return refused('unsupported_grant_type', 'Value for grant_type must be of client_credentials');
  }
  const credentials = credentialsOf(values, authorization);
  if (credentials === 'twice')
    return refused('invalid_request', 'The client is named in the header and in the body');
  if (credentials === undefined)
    return refused('invalid_client', 'Client credentials are missing or invalid');
  const { failures } = sources;
  const afterMs = failures.waitMs(credentials.id, address);
  if (afterMs > 0) return { ok: 'later', afterMs };
  const client = await tokenClient(sources, credentials.id, credentials.secret);
  if (client === undefined) {
    failures.failed(credentials.id, address);
    return refused('invalid_client', 'Client credentials are missing or invalid');
  }
  if (values.get('audience') !== policy.audience) {
    return refused('invalid_request', `Value for audience must be of ${policy.audience}`);
  }
  const scopes = scopesOf(values.get('scope'), client);
  if (scopes === undefined)
    return refused('invalid_scope', `Value for scope must be of ${client.scopes.join(' ')}`);
  const accessToken = await signedToken(sources, policy, client, scopes);
  await recordLogin(sources, client, scopes, address);
  sources.callerUses.saw(callerKey(client.kind, client.id));
  return {
    ok: true,
    body: {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: TOKEN_LIFETIME_SECONDS,
      scope: scopes.join(' '),
    },
  };
}

/** RFC 8414. */
export function issuerMetadata(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    token_endpoint: `${issuer}/oauth/token`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    scopes_supported: SCOPES,
  };
}

/** An OAuth client, or an API account of an organization that permits the exchange. */
async function tokenClient(
  { access, secrets, clock }: TokenSources,
  id: string,
  secret: string,
): Promise<ProvenCaller | undefined> {
  const asked = isUuid(id) ? id : NO_ID;
  const askedClient = access.caller('client', asked);
  const askedAccount = access.caller('account', asked);
  const [client, account] = await Promise.all([askedClient, askedAccount]);
  const found = client ?? (account?.mayExchange === true ? account : undefined);
  const proven = provenBySecret(secrets, found, secret, clock.nowMs());
  if (proven === undefined) {
    await Promise.all([access.evenOut('client', askedClient), access.evenOut('account', askedAccount)]);
  }
  return proven;
}

function credentialsOf(
  values: ReadonlyMap<string, string>,
  authorization: readonly string[],
): { readonly id: string; readonly secret: string } | 'twice' | undefined {
  const id = values.get('client_id');
  const secret = values.get('client_secret');
  const header = authorizationForm(authorization, textOfBase64);
  if (header.form === 'absent') return id === undefined || secret === undefined ? undefined : { id, secret };
  if (header.form !== 'basic') return undefined;
  if (secret !== undefined) return 'twice';
  const fromHeader = { id: formDecoded(header.id), secret: formDecoded(header.secret) };
  return id !== undefined && id !== fromHeader.id ? 'twice' : fromHeader;
}

/** RFC 6749 §2.3.1 form-encodes both parts. Ours contain no characters that this changes. */
function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Returns the requested scopes, each once, or all of the client's by default. Undefined if the client lacks one. */
function scopesOf(asked: string | undefined, client: ApiCaller): readonly string[] | undefined {
  const scopes = [...new Set((asked ?? '').split(' ').filter((scope) => scope !== ''))];
  if (scopes.length === 0) return client.scopes;
  return scopes.every((scope) => client.scopes.includes(scope)) ? scopes : undefined;
}

async function signedToken(
  { keys, clock }: TokenSources,
  policy: TokenPolicy,
  client: ProvenCaller,
  scopes: readonly string[],
): Promise<string> {
  const key = keys.signing();
  const nowSeconds = Math.floor(clock.nowMs() / 1_000);
  const { organizationId: org, kind: caller, credential } = client;
  return new SignJWT({ scope: scopes.join(' '), org, caller, credential })
    .setProtectedHeader({ alg: 'ES256', kid: key.id, typ: policy.type })
    .setIssuer(policy.issuer)
    .setSubject(client.id)
    .setAudience(policy.audience)
    .setIssuedAt(nowSeconds)
    .setExpirationTime(nowSeconds + TOKEN_LIFETIME_SECONDS)
    .setJti(randomUUID())
    .sign(key.privateKey);
}

/** Recorded before the token is sent, so that the audit trail has every token. */
async function recordLogin(
  { store, secrets, clock }: TokenSources,
  { kind, id, organizationId }: ApiCaller,
  scopes: readonly string[],
  address: string,
): Promise<void> {
  const entry: AuditEntry = {
    organizationId,
    actor: { kind, id },
    action: 'issueToken',
    target: { kind: kind === 'account' ? 'api-account' : 'oauth-client', id },
    after: { scopes, expiresInSeconds: TOKEN_LIFETIME_SECONDS },
    address,
    result: 'ok',
  };
  await store.transaction((trx, touch) => appendAudit(trx, touch, secrets, entry, clock.nowMs()));
}

function refused(error: TokenErrorWord, message: string): TokenAnswer {
  return { ok: false, status: error === 'invalid_client' ? 401 : 400, error, message };
}
