/**
 * Sends mail through the server that the operator configured (ADR 0115). The library speaks SMTP; the socket is the outward
 * dialer's (ADR 0089), so that proxies apply. Inner addresses are permitted, because the operator named the server.
 */
import { messageOf, type Log, type Secret } from '#base';
import { systemAnchors, TLS_MIN_VERSION, type OutwardDialer } from '#net';
import type { NodemailerError } from 'nodemailer';

/** `implicit`: TLS from the first byte. `starttls`: required before anything is sent. `none`: for this machine only. */
export type MailTls = 'implicit' | 'starttls' | 'none';

export interface MailSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: MailTls;
  readonly login: { readonly user: string; readonly password: Secret } | undefined;
  /** The address of the sender. */
  readonly from: string;
  /** Authorities (PEM) that replace those of the system. */
  readonly ca: string | undefined;
  readonly outward: Pick<OutwardDialer, 'connect'>;
}

export interface Mail {
  /** Attempts to send a mail share its ID. */
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface RefusedAddress {
  readonly address: string;
  /** The reply code of SMTP. After 4xx it may be accepted later. */
  readonly status: number;
  readonly answer: string;
}

export interface MailOutcome {
  readonly accepted: readonly string[];
  readonly refused: readonly RefusedAddress[];
  readonly status: number | null;
  /** Why it reached nobody, unless each address was refused by itself. It names nothing of the server. */
  readonly problem: string | undefined;
}

/** From the look-up to the last answer. Deliveries have a lease of a minute. */
const TIMEOUT_MS = 30_000;
const MAX_ANSWER_CHARS = 200;

/** Codes of Node and OpenSSL for a handshake or a certificate. */
const OF_TLS = /^(?:ERR_TLS|ERR_SSL|EPROTO$|HOSTNAME_)|CERT|_CA$|SIGNATURE|INVALID_PURPOSE/;

const PROBLEMS = {
  login: 'the mail server of the installation refused its user or password',
  tls: 'the mail server of the installation offers no TLS, or has a certificate that is not trusted',
  unreachable: 'the mail server of the installation cannot be reached',
  silent: 'the mail server of the installation did not respond in time',
} as const;

export class Mailer {
  readonly #settings: MailSettings;
  readonly #log: Log;
  readonly #timeoutMs: number;

  constructor(settings: MailSettings, log: Log, timeoutMs = TIMEOUT_MS) {
    this.#settings = settings;
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  /** Never rejects. The log has what the server said; the outcome has what tenants may read. */
  async send(mail: Mail, signal: AbortSignal): Promise<MailOutcome> {
    const deadline = AbortSignal.timeout(this.#timeoutMs);
    const end = AbortSignal.any([signal, deadline]);
    try {
      return await this.#send(mail, end);
    } catch (error) {
      const failure = error as NodemailerError;
      const refused = refusedOf(failure.rejectedErrors);
      const status = failure.responseCode ?? null;
      if (refused.length > 0) return { accepted: [], refused, status, problem: undefined };
      const problem = deadline.aborted ? PROBLEMS.silent : problemOf(failure);
      this.#log.warn({ status, cause: messageOf(error) }, 'a mail could not be sent');
      return { accepted: [], refused: [], status, problem };
    }
  }

  async #send({ id, to, subject, text, html }: Mail, signal: AbortSignal): Promise<MailOutcome> {
    const { from } = this.#settings;
    const transport = await this.#transport(signal);
    try {
      const { accepted, rejectedErrors, response } = await transport.sendMail({
        from: { name: 'Frontdoor', address: from },
        to: to.map((address) => ({ name: '', address })),
        envelope: { from, to: [...to] },
        messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
        subject,
        text,
        html,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        // A mail has no attachments; nothing may make the library open one.
        disableFileAccess: true,
        disableUrlAccess: true,
        signal,
      });
      const status = Number(/^\d{3}/.exec(response)?.[0] ?? 250);
      return { accepted, refused: refusedOf(rejectedErrors), status, problem: undefined };
    } finally {
      transport.close();
    }
  }

  async #transport(signal: AbortSignal) {
    const { host, port, tls, login, ca, outward } = this.#settings;
    const { createTransport } = await import('nodemailer');
    const socket = await outward.connect({ host, port }, { signal });
    signal.addEventListener('abort', () => socket.destroy(), { once: true });
    return createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: { ca: ca ?? systemAnchors(), minVersion: TLS_MIN_VERSION },
      ...(login === undefined ? {} : { auth: { user: login.user, pass: login.password.reveal() } }),
      connectionTimeout: this.#timeoutMs,
      greetingTimeout: this.#timeoutMs,
      socketTimeout: this.#timeoutMs,
      getSocket: (_options, done) => done(null, { connection: socket }),
    });
  }
}

function refusedOf(errors: readonly NodemailerError[] | undefined): readonly RefusedAddress[] {
  return (errors ?? []).map(({ recipient = '', responseCode = 500, response = '' }) => ({
    address: recipient,
    status: responseCode,
    answer: printable(response),
  }));
}

/** What a server answered, on one line. */
function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_ANSWER_CHARS);
}

function problemOf({ code, originalCode = '', responseCode, response }: NodemailerError): string {
  if (code === 'EAUTH' || code === 'ENOAUTH') return PROBLEMS.login;
  if (code === 'ETLS' || OF_TLS.test(originalCode)) return PROBLEMS.tls;
  if (code === 'ETIMEDOUT') return PROBLEMS.silent;
  if (responseCode !== undefined) return `the mail server refused the message: ${printable(response ?? '')}`;
  return PROBLEMS.unreachable;
}
