/**
 * Short forms of body objects on one line, by long option: `100/1m` instead of `{"requests":100,"per":"PT1M"}`.
 * JSON is also accepted everywhere, also from a file. A text that does not fit is refused with an example.
 */
import { formatIsoDuration } from '#domain';
import { parseHeaderRule, parsePathAnswer, parseRoute, parseTlsCa } from '#domain/upstream';
import { parseDurationText } from '../duration-text.ts';

export interface ValueForm {
  /** Placeholder of the value in help. */
  readonly placeholder: string;
  readonly example: string;
  /** Returns undefined if the text does not have this form. */
  readonly parse: (text: string) => unknown;
  /** Whether the value is a text that is too long for a command line. */
  readonly isText?: boolean;
}

export const VALUE_FORMS: Readonly<Record<string, ValueForm>> = {
  'rate-limit': { placeholder: 'requests/time', example: '100/1m', parse: rateOf },
  session: { placeholder: 'idle=time,absolute=time', example: 'idle=8h,absolute=7d', parse: sessionOf },
  claim: { placeholder: 'claim=value,...', example: 'groups=staff,admins', parse: claimOf },
  'basic-auth': { placeholder: 'name:password', example: 'ann:correct-horse-battery', parse: basicUserOf },
  'request-header': { placeholder: 'name:value', example: 'X-Tenant:blue', parse: parseHeaderRule },
  'response-header': { placeholder: 'name:value', example: 'X-Frame-Options:DENY', parse: parseHeaderRule },
  route: { placeholder: 'path=target', example: '/api=http://127.0.0.1:4000', parse: parseRoute },
  answer: { placeholder: 'path=text', example: '/old/*=>https://new.example.com/*', parse: parsePathAnswer },
  'client-certificate': { placeholder: '@ca.pem', example: '@ca.pem', parse: authoritiesOf },
  'target-ca': { placeholder: '@ca.pem', example: '@ca.pem', parse: parseTlsCa, isText: true },
  'error-page': { placeholder: '@page.html', example: '@page.html', parse: pageOf, isText: true },
};

function rateOf(text: string): unknown {
  const [, requests, time = ''] = /^(\d{1,9})\/(\w+)$/.exec(text) ?? [];
  // `100/m` means per one minute.
  const per = durationOf(/^\d|^P/.test(time) ? time : `1${time}`);
  return requests === undefined || per === undefined ? undefined : { requests: Number(requests), per };
}

function sessionOf(text: string): unknown {
  const limits: Record<string, string> = {};
  for (const part of text.split(',')) {
    const [, name = '', time = ''] = /^(idle|absolute)=(\w+)$/.exec(part.trim()) ?? [];
    const span = durationOf(time);
    if (span === undefined) return undefined;
    limits[name] = span;
  }
  return limits;
}

function claimOf(text: string): unknown {
  const equals = text.indexOf('=');
  const anyOf = text
    .slice(equals + 1)
    .split(',')
    .filter((value) => value !== '');
  return equals < 1 || anyOf.length === 0 ? undefined : { claim: text.slice(0, equals), anyOf };
}

function basicUserOf(text: string): unknown {
  const colon = text.indexOf(':');
  return colon < 1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) };
}

function pageOf(text: string): unknown {
  return text.trimStart().startsWith('<') ? text : undefined;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function authoritiesOf(text: string): unknown {
  const authorities = text.match(CERTIFICATE)?.map((pem) => `${pem}\n`);
  return authorities === undefined ? undefined : { authorities };
}

function durationOf(text: string): string | undefined {
  const ms = parseDurationText(text);
  return ms === undefined ? undefined : formatIsoDuration(ms);
}
