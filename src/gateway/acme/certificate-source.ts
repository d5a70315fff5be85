/**
 * The interface between those that need certificates (a gateway, or each of its workers) and the one that obtains them: the
 * issuer in the same process, or in the supervisor behind a pipe.
 */
import type { KeptCertificate } from '../certificates/certificate-store.ts';
import type { NameOwnership } from './issue-policy.ts';

/** `refused`: there was no order, because of a pause after a failure or of a bound. */
export const ISSUE_OUTCOMES = ['obtained', 'failed', 'refused'] as const;
export type IssueOutcome = (typeof ISSUE_OUTCOMES)[number];

/** Why there is no new certificate. */
export interface IssueFailure {
  /** In the words of the authority, if it has refused the order. */
  readonly problem: string;
  /** When the next order is possible; null if no time is known. */
  readonly retryAtMs: number | null;
}

export interface IssueEvent {
  /** A host or `*.zone`. */
  readonly name: string;
  readonly outcome: IssueOutcome;
  /** The new certificate, which the gateway's store has already. */
  readonly certificate: KeptCertificate | undefined;
  /** Undefined for one that was obtained, and for a refusal because of a pause, whose failure was sent before. */
  readonly failure?: IssueFailure | undefined;
}

/** A name that needs a certificate, and the organization whose budget its order counts in. */
export interface NeededCertificate extends NameOwnership {
  /** A host or `*.zone`. */
  readonly name: string;
  /** '' for names of the installation, and where the control plane does not report organizations. */
  readonly organizationId: string;
}

export interface CertificateSource {
  /** Returns the names that are refused at once. The outcome of the others is sent to the followers. */
  want(needed: readonly NeededCertificate[]): readonly string[];
  /** Returns a function that removes the listener. */
  follow(listener: (event: IssueEvent) => void): () => void;
  /** Forgets pauses after failures: an operator has corrected the cause, and asks for a new attempt. */
  retry(): void;
  /** Ends orders in progress. */
  close(): Promise<void>;
}
