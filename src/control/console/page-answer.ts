/** How a page of the console is sent, and the page of a failure. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FrontdoorError, messageOf, type Log } from '#base';
import { html } from '../html/mod.ts';
import type { SignInLook } from '../credentials/people/mod.ts';
import { sessionCookie, stepCookie } from './console-cookie.ts';
import type { Begun } from './console-log-in.ts';
import { problemPage, unencryptedPage } from './console-pages.ts';
import { documentOf, type ConsolePage } from './page-document.ts';
import { languageOf, PAGE_TEXTS } from './page-text.ts';

const NONCE_BYTES = 18;

/** The request names a host that is not the console's: it was meant for another server (RFC 9110 §15.5.20). */
export class Misdirected extends Error {}

/** Browsers keep no session of the console's address. Nobody is asked for a password there. */
export class Unencrypted extends Error {}

/** Sends the cookie. The next page sees whether the browser kept it. */
export function begin(reply: FastifyReply, base: string, begun: Begun, to: string): FastifyReply {
  const [cookie, next] =
    'token' in begun
      ? [sessionCookie(begun.token), 'logged-in']
      : [stepCookie(begun.sealed), 'log-in/second-factor'];
  return reply.header('set-cookie', cookie).redirect(`${base}/${next}?to=${encodeURIComponent(to)}`, 303);
}

export function pageOfError(error: unknown, log: Log): ConsolePage {
  if (error instanceof Misdirected)
    return problemPage(
      421,
      ({ otherAddress }) => otherAddress,
      ({ otherAddressText }) => otherAddressText,
    );
  if (error instanceof Unencrypted) return unencryptedPage();
  if (error instanceof FrontdoorError && error.kind !== 'internal') {
    if (error.kind === 'unavailable')
      return problemPage(
        503,
        ({ notAvailable }) => notAvailable,
        ({ notAvailableText }) => notAvailableText,
      );
    const { status, message } = error;
    // Messages of errors are in English.
    const content = () => html`<p lang="en">${message}.</p>`;
    return { status, title: ({ didNotWork }) => didNotWork, content };
  }
  const errorId = randomBytes(8).toString('hex');
  log.error(
    { errorId, cause: error instanceof Error ? error.stack : String(error) },
    'a page of the console failed',
  );
  return problemPage(
    500,
    ({ internalError }) => internalError,
    ({ internalErrorText }) => internalErrorText(errorId),
  );
}

export type SendPage = (
  reply: FastifyReply,
  page: ConsolePage,
  request: FastifyRequest,
) => Promise<FastifyReply>;

export interface PageSender {
  /** The path of the console. */
  readonly base: string;
  /** The name and logo of an organization, or of the oldest one. */
  readonly lookOf: (organizationId: string | undefined) => Promise<SignInLook>;
  readonly log: Log;
}

export async function sendPage(
  { base, lookOf, log }: PageSender,
  reply: FastifyReply,
  page: ConsolePage,
  request: FastifyRequest,
): Promise<FastifyReply> {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const language = languageOf(request.raw);
  // A page about a database that is away has no name.
  const look = await lookOf(page.organizationId).catch((error: unknown): SignInLook => {
    log.warn({ cause: messageOf(error) }, 'page without the name of its organization');
    return { name: undefined, logo: undefined };
  });
  const policy =
    `default-src 'none'; ${page.usesScript === true ? `script-src 'self'; ` : ''}img-src data:; style-src 'nonce-${nonce}'; form-action 'self'; ` +
    `base-uri 'none'; frame-ancestors 'none'`;
  return reply
    .code(page.status)
    .header('content-security-policy', policy)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .header('content-language', language)
    .type('text/html; charset=utf-8')
    .send(
      request.method === 'HEAD'
        ? ''
        : documentOf(page, { base, nonce, language, text: PAGE_TEXTS[language], look }),
    );
}
