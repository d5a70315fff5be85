/** How a page of the console is sent, and the page of a failure. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FrontdoorError, type Log } from '#base';
import { sessionCookie, stepCookie } from './console-cookie.ts';
import type { Begun } from './console-log-in.ts';
import { documentOf, problemPage, unencryptedPage, type ConsolePage } from './console-pages.ts';

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
      'Another address',
      'The console does not answer under this name. Use the address that the control plane printed. To serve it behind a proxy ' +
        'under this name, start the control plane with --public-api-url and the address that browsers show.',
    );
  if (error instanceof Unencrypted) return unencryptedPage();
  if (error instanceof FrontdoorError && error.kind !== 'internal') {
    if (error.kind === 'unavailable')
      return problemPage(
        503,
        'Not available',
        'The console is not available at the moment. Try again in a minute.',
      );
    return problemPage(error.status, 'This did not work', `${error.message}.`);
  }
  const errorId = randomBytes(8).toString('hex');
  log.error(
    { errorId, cause: error instanceof Error ? error.stack : String(error) },
    'a page of the console failed',
  );
  return problemPage(500, 'Internal error', `This is a fault of the console. Its error ID is ${errorId}.`);
}

export function sendPage(
  reply: FastifyReply,
  base: string,
  page: ConsolePage,
  request: FastifyRequest,
): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const scripts = page.takesCode === true ? `script-src 'self'; ` : '';
  const pictures = page.showsPicture === true ? `img-src data:; ` : '';
  const policy =
    `default-src 'none'; ${scripts}${pictures}style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; ` +
    `frame-ancestors 'none'`;
  return reply
    .code(page.status)
    .header('content-security-policy', policy)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(request.method === 'HEAD' ? '' : documentOf(page, base, nonce));
}
