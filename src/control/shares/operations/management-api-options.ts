/** What a Management API is opened with. */
import type { IpNetwork } from '#domain';
import type { BodyIntake } from '#net/http';
import type { ApiTls } from './api-tls.ts';
import type { ApiParts } from './call.ts';
import type { OpenConsole } from './console-access.ts';
import type { ApiLimits } from './limits.ts';

/** The dependencies of operations that the API makes itself. */
type OwnParts =
  | 'keys'
  | 'originKeys'
  | 'access'
  | 'frontdoors'
  | 'loginFailures'
  | 'callerUses'
  | 'auditFollowers'
  | 'changeFollowers'
  | 'busiest'
  | 'tokenPolicy'
  | 'agentEnrollmentTtlMs'
  | 'fabricEnrollmentTtlMs';

export interface ManagementApiOptions extends Omit<ApiParts, OwnParts> {
  /** {auth_url}: the issuer of bearer tokens, which this server serves too. */
  readonly authUrl: () => string;
  /** {base_url} of other control planes over the same database. */
  readonly peerUrls?: (() => readonly string[]) | undefined;
  /** Path of {base_url} and {auth_url} at this server; '' if there is none. */
  readonly pathPrefix?: string | undefined;
  readonly limits?: Partial<ApiLimits> | undefined;
  /** Their `X-Forwarded-For` names the client, and their connections do not count. */
  readonly trustedProxies?: readonly IpNetwork[] | undefined;
  /** Serves the console below `/console`. */
  readonly console?: OpenConsole | undefined;
  /** Reads bodies, shared with the other APIs of the process, so that one budget applies to all. */
  readonly intake?: BodyIntake | undefined;
  readonly agentEnrollmentTtlMs?: number | undefined;
  readonly fabricEnrollmentTtlMs?: number | undefined;
  /** Without it, the API uses plain HTTP. */
  readonly tls?: ApiTls | undefined;
}
