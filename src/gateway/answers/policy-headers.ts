/** The headers for browsers that a share's policy adds to answers, of the service and of the gateway: HSTS and CORS. */
import { corsLines, hstsLine, type CompiledRules } from '#domain/access';
import type { FieldLines } from '../http/head-decoder.ts';
import { hasHeader } from '../http/header-name.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ResponseHead } from '../http/response-head-policy.ts';
import { clearedCookies, type ClearedRequest } from './cookie-bomb.ts';

/** Lines without line ends, by the name (lower case) of the header that decides whether a service has set its own. */
export interface PolicyHeaders {
  readonly hsts: readonly string[];
  readonly cors: readonly string[];
}

const HSTS = 'strict-transport-security';
const CORS = 'access-control-allow-origin';
const NONE: readonly string[] = [];

/** Undefined if the policy adds no header. HSTS means nothing over plain HTTP (RFC 6797 §7.2). */
export function policyHeadersOf(
  { rules, hasAnswerHeaders }: CompiledRules,
  head: RequestHead,
  isSecure: boolean,
): PolicyHeaders | undefined {
  if (!hasAnswerHeaders) return undefined;
  const { cors, hsts } = rules;
  return {
    hsts: hsts === null || !isSecure ? NONE : [hstsLine(hsts)],
    cors: cors === null ? NONE : corsLines(cors, originOf(head)),
  };
}

/** What the head of a service's answer gets beside its own lines, each with its line end. */
export function addedLines(
  { status, fields }: ResponseHead,
  record: ClearedRequest & { readonly policyHeaders: PolicyHeaders | undefined },
): string {
  const cleared = clearedCookies(status, record);
  const { policyHeaders } = record;
  return policyHeaders === undefined ? cleared : cleared + linesBeside(policyHeaders, fields);
}

/** A header that the service sets itself stays as it is. */
function linesBeside({ hsts, cors }: PolicyHeaders, fields: FieldLines): string {
  const lines = [...(hasHeader(fields, HSTS) ? NONE : hsts), ...(hasHeader(fields, CORS) ? NONE : cors)];
  return lines.map((line) => `${line}\r\n`).join('');
}

/** The lines of an answer of the gateway itself. */
export function addedToOwn(headers: PolicyHeaders | undefined): readonly string[] {
  return headers === undefined ? NONE : [...headers.hsts, ...headers.cors];
}

function originOf({ fields }: RequestHead): string {
  const found: string[] = [];
  for (let i = 0; i < fields.count; i += 1)
    if (fields.name(i).toLowerCase() === 'origin') found.push(fields.value(i));
  return found.length === 1 ? found[0]! : '';
}
