/** Answers CORS preflights by the policy of the share, before any credential is required, because browsers send none. */
import { namesOrigin, preflightLines, type AccessRules } from '#domain/access';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { AccessVerdict } from './access.ts';
import { ACCESS_FAILURES } from './access-failure-table.ts';
import { isReserved } from './login-pages.ts';
import { isPreflight } from './navigation.ts';
import { refusal } from './own-verdicts.ts';
import { headerValue } from '../http/header-name.ts';

/** Returns undefined if the request is no preflight, or not decided by CORS rules. */
export function preflightVerdict(
  { cors, allowPreflights }: AccessRules,
  head: RequestHead,
): AccessVerdict | undefined {
  if (cors === null || !isPreflight(head) || isReserved(head.target)) return undefined;
  // The lines that depend on the origin are added to every answer of the gateway.
  if (namesOrigin(cors, headerValue(head.fields, 'origin')))
    return {
      type: 'answer',
      decision: 'cors-preflight',
      answer: { status: 204, lines: preflightLines(cors), body: '' },
    };
  return allowPreflights ? undefined : refusal(ACCESS_FAILURES.otherOrigin);
}
