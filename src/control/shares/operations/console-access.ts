/**
 * What the Management API needs of the console. The routes below `/console/api` run the same operations through the same
 * gate, with the session of a browser instead of a credential. The Management API itself never reads a cookie.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RefusalRecorder } from '../../audit/mod.ts';
import type { LoginFailures, Principal, TrustedIssuers } from '../../credentials/oauth/mod.ts';
import type { CallerDirectory } from '../../credentials/accounts/mod.ts';
import { consoleElsewhere, noConsole } from './api-errors.ts';

/** 12 hours. */
export const CONSOLE_IDLE_MS = 43_200_000;
/** 7 days. */
export const CONSOLE_LIFETIME_MS = 604_800_000;
/** Dangerous operations need a proof of the identity that is younger: 15 minutes. */
const RECENT_PROOF_MS = 900_000;
/** The clocks of control planes may differ by so much. */
const CLOCK_SKEW_MS = 60_000;

/** A proof in the future is not recent: the clock was set back, and its age is not known. */
export function isRecentProof(provenAtMs: number, nowMs: number): boolean {
  const ageMs = nowMs - provenAtMs;
  return ageMs < RECENT_PROOF_MS && ageMs >= -CLOCK_SKEW_MS;
}

/** Answers below `/console/api` name the build of the console that is served. */
export const CONSOLE_BUILD_HEADER = 'frontdoor-console-build';
/** And the position in the log of changes before the answer was made, which a page follows the changes from. */
export const CHANGE_POSITION_HEADER = 'frontdoor-change-position';

export interface ConsolePrincipal extends Principal {
  readonly provenAtMs: number;
}

export interface ConsoleRouteContext {
  /** Path of {base_url} at this server; '' if there is none. */
  readonly pathPrefix: string;
  readonly readBody: (request: FastifyRequest, reply: FastifyReply) => Promise<Buffer>;
  /** Newcomers do not displace the connection, until the answer is called. */
  readonly hold: (request: IncomingMessage) => () => void;
  /** The callback URLs of a provider; none for a frontdoor of another organization. */
  readonly callbackUrls: (
    organizationId: string,
    frontdoorId: string,
    providerId: string,
  ) => Promise<readonly string[]>;
}

export interface Console {
  /** Whether the request's `Host` is a name of the console. */
  isOwnHost(request: IncomingMessage): boolean;
  /** Throws the refusal of a request that no page of the console sent. */
  checkOrigin(request: IncomingMessage, isChange: boolean): void;
  /** Returns the owner of the session in the request's cookie, or undefined. `isUse`: it is no longer idle. */
  principalOf(request: IncomingMessage, isUse: boolean): Promise<ConsolePrincipal | undefined>;
  /** Which build of the console is served; undefined while there is none. A page of another build reloads itself. */
  build(): string | undefined;
  /** Adds the pages below `/console`, apart from `/console/api`. */
  addRoutes(app: FastifyInstance, context: ConsoleRouteContext): void;
}

export type OpenConsole = (parts: {
  readonly access: CallerDirectory;
  readonly failures: LoginFailures;
  readonly refusals: Pick<RefusalRecorder, 'record'>;
  readonly issuers: TrustedIssuers | undefined;
}) => Console;

/** The console's own paths are routes. */
const CONSOLE_PATH = /^[^?]*\/console(?:[/?]|$)/;

/** Throws the refusal of a path that has no route, if it looks like one of the console. */
export function checkConsolePath(url: string, prefix: string, hasConsole: boolean): void {
  if (!CONSOLE_PATH.test(url)) return;
  if (hasConsole) throw consoleElsewhere(prefix);
  const path = `${prefix}/console`;
  if (url === path || url.startsWith(`${path}/`) || url.startsWith(`${path}?`)) throw noConsole();
}
