/** The grants of the token endpoint: code, refresh token, and token exchange (RFC 8693), which the Go SDK refreshes by. */
import { definedFields } from '#base';
import type { EdgeContext, SignInContext } from './edge-context.ts';
import { type LiveSession, ACCESS_LIFETIME_MS } from '../../overlay/clients/mod.ts';
import { isVerifierOf, type OidcRequests } from './oidc-requests.ts';
import { refreshProblem } from './refresh-rules.ts';
import type { RefreshGrant, TokenRequest } from './session-tokens.ts';

export type OidcContext = SignInContext & Pick<EdgeContext, 'edgeTokens' | 'addresses'>;

const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';
const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const GRANT_TYPES = ['authorization_code', 'refresh_token', EXCHANGE_GRANT];

/** An answer of the token endpoint, or an error of RFC 6749. */
export type GrantAnswer =
  | { readonly body: Readonly<Record<string, unknown>> }
  | { readonly error: string; readonly text?: string };

export interface GrantCall {
  readonly form: URLSearchParams;
  /** As the client authenticates itself; undefined: not at all. */
  readonly clientId: string | undefined;
  readonly issuer: string;
  readonly address: string;
}

/** Never rejects for what a client sends. */
export async function grantTokens(
  context: OidcContext,
  requests: OidcRequests,
  call: GrantCall,
): Promise<GrantAnswer> {
  switch (call.form.get('grant_type')) {
    case 'authorization_code':
      return grantByCode(context, requests, call);
    case 'refresh_token':
      return grantByRefresh(context, call);
    case EXCHANGE_GRANT:
      return exchange(context, call);
    default:
      return { error: 'unsupported_grant_type' };
  }
}

async function grantByCode(
  context: OidcContext,
  requests: OidcRequests,
  { form, clientId, issuer, address }: GrantCall,
): Promise<GrantAnswer> {
  const { model } = context;
  const { sessions } = context.signIn;
  const { sessionTokens } = context.edgeTokens;
  const code = form.get('code') ?? '';
  const request = requests.ofCode(code);
  if (request === undefined) return { error: 'invalid_grant', text: 'invalid code' };
  if (clientId !== undefined && clientId !== request.clientId) return { error: 'invalid_client' };
  if (form.get('redirect_uri') !== request.redirectUri)
    return { error: 'invalid_grant', text: 'redirect_uri does not correspond' };
  if (!isVerifierOf(request.challenge, form.get('code_verifier') ?? ''))
    return { error: 'invalid_grant', text: 'invalid code_verifier' };
  // At most one of all calls with one code finds the session waiting.
  const session = await sessions.activate(request.sessionId);
  const identity = session && model.identity(session.identityId);
  if (session === undefined || identity === undefined)
    return { error: 'invalid_grant', text: 'invalid code' };
  // The policy may have changed while the session was written.
  if ((await refreshProblem(context, session)) !== undefined) {
    await sessions.remove(session.id);
    return { error: 'invalid_grant', text: 'invalid code' };
  }
  const wanted: TokenRequest = { issuer, clientId: request.clientId, scopes: request.scopes, address };
  const accessToken = sessionTokens.mintAccess(session, wanted);
  const nonce = request.nonce === '' ? undefined : request.nonce;
  return {
    body: definedFields({
      access_token: accessToken,
      token_type: 'Bearer',
      refresh_token: request.scopes.includes('offline_access')
        ? sessionTokens.mintRefresh(session, wanted)
        : undefined,
      expires_in: ACCESS_LIFETIME_MS / 1_000,
      id_token: sessionTokens.mintId(
        session,
        wanted,
        identity.name,
        definedFields({ accessToken, code, nonce }),
      ),
      scope: request.scopes.join(' '),
    }),
  };
}

async function grantByRefresh(context: OidcContext, call: GrantCall): Promise<GrantAnswer> {
  const grant = context.edgeTokens.sessionTokens.verifyRefresh(call.form.get('refresh_token') ?? '');
  const found = await sessionOf(context, call, grant);
  if ('error' in found) return found;
  const { session, name, wanted } = found;
  const nextId = await usedRefresh(context, call, grant!, true);
  if (nextId === undefined) return { error: 'invalid_grant' };
  context.signIn.sessions.extend(session.id);
  const accessToken = context.edgeTokens.sessionTokens.mintAccess(session, wanted);
  return {
    body: {
      access_token: accessToken,
      token_type: 'Bearer',
      refresh_token: context.edgeTokens.sessionTokens.mintRefresh(session, wanted, nextId),
      expires_in: ACCESS_LIFETIME_MS / 1_000,
      id_token: context.edgeTokens.sessionTokens.mintId(session, wanted, name, { accessToken }),
      scope: wanted.scopes.join(' '),
    },
  };
}

/** A refresh token opens tokens of each kind; an access token, none that outlive it. */
async function exchange(context: OidcContext, call: GrantCall): Promise<GrantAnswer> {
  const { sessions } = context.signIn;
  const { sessionTokens } = context.edgeTokens;
  const { form } = call;
  const subject = form.get('subject_token') ?? '';
  const subjectType = form.get('subject_token_type');
  const requested = form.get('requested_token_type') ?? `${TOKEN_TYPE}access_token`;
  const isRefresh = subjectType === `${TOKEN_TYPE}refresh_token`;
  if (!isRefresh && subjectType !== `${TOKEN_TYPE}access_token`)
    return { error: 'invalid_request', text: 'subject_token_type is not supported' };
  const grant = isRefresh ? sessionTokens.verifyRefresh(subject) : sessionTokens.verifyAccessClient(subject);
  const found = await sessionOf(context, call, grant);
  if ('error' in found) return found;
  const { session, name, wanted } = found;
  const scope = wanted.scopes.join(' ');
  const wantsRefresh = requested === `${TOKEN_TYPE}refresh_token`;
  const nextId = isRefresh ? await usedRefresh(context, call, grant!, wantsRefresh) : '';
  if (nextId === undefined) return { error: 'invalid_grant' };
  if (requested === `${TOKEN_TYPE}id_token`) {
    const token = sessionTokens.mintId(session, wanted, name);
    return { body: { access_token: token, issued_token_type: requested, token_type: 'N_A', scope } };
  }
  if (!isRefresh || (!wantsRefresh && requested !== `${TOKEN_TYPE}access_token`))
    return { error: 'invalid_request', text: 'requested_token_type is not supported' };
  sessions.extend(session.id);
  return {
    body: definedFields({
      access_token: sessionTokens.mintAccess(session, wanted),
      issued_token_type: requested,
      token_type: 'Bearer',
      expires_in: ACCESS_LIFETIME_MS / 1_000,
      scope,
      refresh_token: wantsRefresh ? sessionTokens.mintRefresh(session, wanted, nextId) : undefined,
    }),
  };
}

/** A refresh token is used once: of a copy, the second use ends the session. Returns the id for the next token. */
async function usedRefresh(
  { signIn, log }: OidcContext,
  { address }: GrantCall,
  { sessionId, identityId, tokenId }: RefreshGrant,
  isReplaced: boolean,
): Promise<string | undefined> {
  const nextId = await signIn.sessions.useRefresh(sessionId, tokenId, isReplaced);
  if (nextId === undefined)
    log.warn(
      { identity: identityId, apiSession: sessionId, address },
      'edge API: a refresh token was used a second time; its session has ended',
    );
  return nextId;
}

/** The session of a token, while it lives, and what new tokens of it contain. */
async function sessionOf(
  context: OidcContext,
  { clientId, issuer, address }: GrantCall,
  grant: RefreshGrant | undefined,
): Promise<
  | { readonly session: LiveSession; readonly name: string; readonly wanted: TokenRequest }
  | { readonly error: string }
> {
  const { model, log } = context;
  const { sessions } = context.signIn;
  if (grant === undefined) return { error: 'invalid_grant' };
  if (clientId !== undefined && clientId !== grant.clientId) return { error: 'invalid_client' };
  const session = await sessions.findById(grant.sessionId);
  const identity = model.identity(grant.identityId);
  if (session?.form !== 'signed' || session.identityId !== grant.identityId || identity === undefined)
    return { error: 'invalid_grant' };
  const problem = await refreshProblem(context, session);
  if (problem !== undefined) {
    log.info(
      { identity: identity.id, apiSession: session.id, address, problem },
      'edge API: refresh refused',
    );
    return { error: 'invalid_grant' };
  }
  const { scopes } = grant;
  return { session, name: identity.name, wanted: { issuer, clientId: grant.clientId, scopes, address } };
}
