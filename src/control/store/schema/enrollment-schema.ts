/** The table of enrollments: a part of `schema.ts`, which explains the column types. */
import type { Generated } from 'kysely';

/** `edge-password`: a password instead of a certificate; `edge-authority`: a certificate that another party issued. */
export type EnrollmentKind =
  | 'environment'
  | 'gateway'
  | 'router'
  | 'transit-router'
  | 'edge'
  | 'edge-password'
  | 'edge-authority';

/** A one-time code (or one-time token) for a machine's enrollment. */
export interface EnrollmentTable {
  /** A UUID, which is part of the one-time token. */
  id: string;
  /** The result: an environment of `frontdoor_id`, or a certificate of the identity `identity_id`. */
  kind: EnrollmentKind;
  frontdoor_id: string | null;
  /** The identity that enrolls: an existing one, or an environment that is created by the claim. */
  identity_id: string;
  /** The name of a new environment whose agent brings none; null if it was not given, and for other kinds. */
  name: Generated<string | null>;
  /** Null if only the enrollment JWT was handed out. */
  code_hmac: string | null;
  /** The user name whose password `edge-password` sets; null for other kinds. */
  username: string | null;
  /** The entity of the authority whose certificate `edge-authority` takes; null for other kinds. */
  authority_id: string | null;
  expires_at: number;
  refused_csr_count: Generated<number>;
  /** Set by the conditional update that claims the code. */
  claimed_at: number | null;
  created_at: number;
}
