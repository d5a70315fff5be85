/** Redirects requests over plain HTTP to the same address over HTTPS, where a share's policy and its certificates lead there. */
import type { HttpsRedirect } from '#domain/access';
import { FAILURES } from '../answers/failure-table.ts';
import { grpcKindOf } from '../http/grpc-policy.ts';
import { challengeToken } from '../http/challenge-policy.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { AccessVerdict } from './access.ts';
import { redirect } from './login-pages.ts';
import { refusal } from './own-verdicts.ts';
import { authorityOf } from './provider-logout.ts';
import { circleOf } from './redirect-circle.ts';

export class HttpsRedirection {
  readonly #isCertified: (host: string) => boolean;
  readonly #httpsPort: () => number | undefined;

  constructor(isCertified: (host: string) => boolean, httpsPort: () => number | undefined) {
    this.#isCertified = isCertified;
    this.#httpsPort = httpsPort;
  }

  /** The client does not use HTTPS. Returns undefined if the request is served as it is. */
  verdictOf(host: GatewayHost, head: RequestHead, client: ClientFacts): AccessVerdict | undefined {
    const port = this.#httpsPort();
    if (port === undefined || !this.#isWanted(host.route.rules.rules.httpsRedirect, host.host))
      return undefined;
    // Authorities ask over plain HTTP, also those of a service that obtains a certificate of its own.
    if (head.target === '*' || challengeToken(head.target) !== undefined) return undefined;
    const circle = circleOf(head, client);
    if (circle !== undefined) return refusal(circle);
    // Clients of gRPC follow no redirect.
    if (grpcKindOf(head) !== undefined) return refusal(FAILURES.httpsRequired);
    const answer = redirect(308, `https://${authorityOf(host.host, port)}${head.target}`);
    return { type: 'answer', decision: 'to-https', answer };
  }

  #isWanted(setting: HttpsRedirect, host: string): boolean {
    return setting === 'always' || (setting === 'auto' && this.#isCertified(host));
  }
}
