/**
 * What the route groups of the edge API share, by concern. Each group takes what it uses, which its file names; edge-parts.ts
 * makes all of it once.
 */
import type { TokenBuckets } from '#base';
import type { Pki } from '../../pki/mod.ts';
import type {
  ApiSessionStore,
  CallerContext,
  EdgeAddresses,
  EdgeMesh,
  ExternalIds,
  ExternalSigners,
  SecondTokens,
} from '../../overlay/clients/mod.ts';
import type { EdgeTokens } from './edge-tokens.ts';
import type { LogIns } from './log-in.ts';
import type { PartialLogIns } from './partial-log-ins.ts';
import type { SecondFactors } from './second-factors.ts';

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
