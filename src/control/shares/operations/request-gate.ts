/**
 * The steps of a request before its body, in order: limits, limits by address, form of the header, credential,
 * scope, form of the ids, the frontdoor, the query. Every request to a handler passes through here.
 */
import { addressKey, TokenBuckets } from '#base';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { needsRecentLogIn, operations, queryProblem, type Operation } from '#contract';
import { invalidValue, isUuid, includesScope } from '#domain';
import { checkStatedLength } from '#net/http';
import {
  authorizationForm,
  textOfBase64,
  VerifiedTokens,
  verifyToken,
  type Principal,
  type PrincipalSources,
  type TokenClaims,
} from '../../credentials/oauth/mod.ts';
import { callerKey } from '../../credentials/accounts/mod.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import {
  insufficientScope,
  logInTooOld,
  malformedAuthorization,
  noSuchPath,
  notGranted,
  tooMany,
  unauthorized,
} from './api-errors.ts';
import type { ApiParts } from './call.ts';
import { isRecentProof, type Console } from './console-access.ts';
import { MAX_BODY_BYTES, type ApiLimits } from './limits.ts';
import type { Query } from './page-query.ts';

/** The results of the steps before the body. */
export interface AdmittedRequest {
  readonly authorization: readonly string[];
  readonly principal: Principal | undefined;
  readonly frontdoor: GrantedFrontdoor | undefined;
  /** Authenticates the caller again. Throws the refusal. */
  readonly proveAgain: () => Promise<Principal>;
}

/** How a caller authenticates: with a header at the Management API, or with a session below `/console/api`. */
export type ApiDoor = 'credential' | 'session';

/** The `Host` of a request below `/console/api` is not the console's (RFC 9110 §15.5.20). */
export class MisdirectedRequest extends Error {
  constructor() {
    super('The console does not answer under this name (--public-api-url is its address)');
  }
}

type GateParts = Pick<
  ApiParts,
  'store' | 'access' | 'frontdoors' | 'secrets' | 'keys' | 'issuers' | 'clock' | 'tokenPolicy' | 'callerUses'
>;

export class RequestGate {
  readonly #parts: GateParts;
  readonly #writes: TokenBuckets;
  readonly #byAddress = new Map<string, TokenBuckets>();
  readonly #sources: PrincipalSources;
  readonly #proven = new WeakMap<FastifyRequest, Principal>();
  readonly #console: Console | undefined;

  constructor(parts: GateParts, limits: ApiLimits, console?: Console) {
    this.#parts = parts;
    this.#console = console;
    this.#sources = { ...parts, db: parts.store.db, verified: new VerifiedTokens<TokenClaims>() };
    this.#writes = new TokenBuckets(limits.writes, parts.clock);
    for (const { id, isLimitedByAddress } of operations) {
      if (isLimitedByAddress) this.#byAddress.set(id, new TokenBuckets(limits.credentials, parts.clock));
    }
  }

  async admit(operation: Operation, request: FastifyRequest, door: ApiDoor): Promise<AdmittedRequest> {
    const parameters = request.params as Readonly<Record<string, string>>;
    checkStatedLength(request.raw, MAX_BODY_BYTES);
    checkHost(request.raw);
    if (door === 'session') this.#checkPage(operation, request.raw);
    if (Object.values(parameters).includes('')) throw noSuchPath();
    const addressWaitMs = this.#byAddress.get(operation.id)?.take(addressKey(request.ip)) ?? 0;
    if (addressWaitMs > 0) throw tooMany(Math.ceil(addressWaitMs / 1000));
    const authorization = door === 'session' ? [] : headerValues(request.raw, 'authorization');
    const prove = (isUse: boolean): Promise<Principal> =>
      door === 'session'
        ? this.#sessionOwner(operation, request.raw, isUse)
        : this.#principalOf(authorization);
    // A stream that stays open is no use of a session: nobody may be there.
    const proveAgain = (): Promise<Principal> => prove(false);
    if (operation.scope === undefined) {
      checkQuery(operation, request);
      return { authorization, principal: undefined, frontdoor: undefined, proveAgain };
    }
    const principal = await prove(true);
    this.#proven.set(request, principal);
    const { kind, id } = principal;
    if (kind === 'account' || kind === 'client') this.#parts.callerUses.saw(callerKey(kind, id));
    if (operation.method !== 'GET') {
      const waitMs = this.#writes.take(principal.id);
      if (waitMs > 0) throw tooMany(Math.ceil(waitMs / 1000));
    }
    if (!includesScope(principal.scopes, operation.scope)) throw insufficientScope(operation.scope);
    for (const name of operation.uuidParameters) {
      if (parameters[name] !== undefined && !isUuid(parameters[name])) throw invalidValue(name, 'UUID');
    }
    const { frontdoorId } = parameters;
    const frontdoor =
      frontdoorId === undefined
        ? undefined
        : await this.#parts.frontdoors.find(principal.organizationId, frontdoorId);
    if (frontdoorId !== undefined && frontdoor === undefined) throw notGranted('Frontdoor', frontdoorId);
    checkQuery(operation, request);
    return { authorization, principal, frontdoor, proveAgain };
  }

  /** Returns the authenticated caller, even if a later step refused the request. */
  provenCaller(request: FastifyRequest): Principal | undefined {
    return this.#proven.get(request);
  }

  #checkPage({ method }: Operation, request: IncomingMessage): void {
    if (!this.#console!.isOwnHost(request)) throw new MisdirectedRequest();
    this.#console!.checkOrigin(request, method !== 'GET');
  }

  /** Throws the refusal of the session, also if the operation needs a younger log-in. */
  async #sessionOwner(operation: Operation, request: IncomingMessage, isUse: boolean): Promise<Principal> {
    const principal = await this.#console!.principalOf(request, isUse);
    if (principal === undefined) throw unauthorized();
    const { provenAtMs, ...owner } = principal;
    const isRecent = isRecentProof(provenAtMs, this.#parts.clock.nowMs());
    if (!isRecent && needsRecentLogIn(operation)) throw logInTooOld();
    return { ...owner, isRecent };
  }

  /** Throws the refusal of the credential. */
  async #principalOf(authorization: readonly string[]): Promise<Principal> {
    const form = authorizationForm(authorization, textOfBase64);
    if (form.form === 'malformed') throw malformedAuthorization();
    if (form.form === 'absent' || form.form === 'otherScheme') throw unauthorized();
    const principal = await verifyToken(this.#sources, this.#parts.tokenPolicy(), form);
    if (principal === undefined) throw unauthorized();
    return principal;
  }
}

/** The token issuer ignores unknown parameters, as RFC 6749 §3.2 requires. */
function checkQuery({ at, query }: Operation, request: FastifyRequest): void {
  const problem = at === 'auth' ? undefined : queryProblem(query, request.query as Query);
  if (problem !== undefined) throw invalidValue(problem.property, problem.type);
}

/** Returns all values of a repeated header, because the parsed headers keep only the first. */
function headerValues(request: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  const { rawHeaders } = request;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === name) values.push(rawHeaders[i + 1]!);
  }
  return values;
}

function checkHost(request: IncomingMessage): void {
  const hosts = headerValues(request, 'host');
  if (hosts.length > 1 || (hosts.length === 0 && request.httpVersion === '1.1'))
    throw invalidValue('Host', 'host name, sent once');
}
