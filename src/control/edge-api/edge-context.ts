/**
 * What the route groups of the edge API share, by concern. Each group takes what it uses, which its file names; edge-parts.ts
 * makes all of it once.
 */
import type { TokenBuckets } from '#base';
import type { EdgeController, EdgeRouter, FabricEvents, StatusBoard } from '../model/mod.ts';
import type { Pki } from '../pki/mod.ts';
import type { ApiSessionStore } from './api-session-store.ts';
import type { Callers } from './callers.ts';
import type { EdgeBase } from './edge-base.ts';
import type { EdgeTokens } from './edge-tokens.ts';
import type { ExternalIds } from './external-ids.ts';
import type { ExternalSigners } from './external-signers.ts';
import type { LogIns } from './log-in.ts';
import type { PartialLogIns } from './partial-log-ins.ts';
import type { SecondFactors } from './second-factors.ts';
import type { SecondTokens } from './second-tokens.ts';

/** The overlay, as clients see it. */
export interface EdgeMesh {
  /** What administrators follow. */
  readonly events: FabricEvents;
  readonly status: StatusBoard;
  readonly routers: () => readonly EdgeRouter[];
  /** Whether some host of the service cannot encrypt end to end. */
  readonly hasKeylessHost: (serviceId: string) => boolean;
}

/** Addresses in answers. Called for each response. */
export interface EdgeAddresses {
  /** `https://host:port` of the edge API as clients dial it. */
  readonly apiUrl: () => string;
  /** Every control plane over this database; this one only if it shares none. */
  readonly controllers: () => readonly EdgeController[];
  /** Returns the URLs under which gateways serve a public share's host. */
  readonly frontendUrls: (host: string) => readonly string[];
  /** Domain of the addresses of private shares (`<share>.<domain>`); undefined: they have none. */
  readonly interceptDomain: string | undefined;
}

/** Sessions and the steps that lead to them. */
export interface SignInParts {
  readonly sessions: ApiSessionStore;
  readonly logIns: LogIns;
  readonly secondFactors: SecondFactors;
  readonly secondTokens: SecondTokens;
  readonly partialLogIns: PartialLogIns;
}

export interface EnrollmentParts {
  /** Enrollments, per address. */
  readonly limit: TokenBuckets;
  readonly externalIds: ExternalIds;
  readonly externalSigners: ExternalSigners;
}

/** For routes that answer identities. */
export interface CallerContext extends EdgeBase {
  readonly callers: Callers;
}

export interface EdgeContext extends CallerContext {
  readonly pki: Pki;
  /** Tokens of services and sessions, and the keys of both. */
  readonly edgeTokens: EdgeTokens;
  readonly signIn: SignInParts;
  readonly enrollments: EnrollmentParts;
  readonly mesh: EdgeMesh;
  readonly addresses: EdgeAddresses;
}

export type SignInContext = CallerContext & Pick<EdgeContext, 'signIn'>;
export type EnrollmentContext = CallerContext & Pick<EdgeContext, 'pki' | 'enrollments'>;
