/**
 * Answers the challenges of the certificate authority at the plain port: for GET, well-formed tokens and hosts that this
 * gateway serves. Any other request is judged by the access rules of its share, as without automatic certificates.
 */
import type { OwnAnswer } from '../access/access.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { challengeToken } from '../http/challenge-policy.ts';

export type ChallengeAnswers = (head: RequestHead, client: ClientFacts) => OwnAnswer | undefined;

const LINES: readonly string[] = [
  'Content-Type: application/octet-stream',
  'Cache-Control: no-store',
  'X-Content-Type-Options: nosniff',
];

/** `thumbprint` is that of the account's key (RFC 7638). `isServed` takes a canonical host. */
export function challengeAnswers(thumbprint: string, isServed: (host: string) => boolean): ChallengeAnswers {
  return (head, client) => {
    if (client.isSecure || head.method !== 'GET') return undefined;
    const token = challengeToken(head.target);
    if (token === undefined || !isServed(head.host)) return undefined;
    const answer = { status: 200, lines: LINES, body: `${token}.${thumbprint}` };
    return { type: 'answer', decision: 'acme-challenge', answer };
  };
}
