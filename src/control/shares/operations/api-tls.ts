/** TLS of the Management API's listener. */
import { constants } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { FrontdoorError, messageOf, type Log } from '#base';
import { TLS_CIPHERS, TLS_MIN_VERSION } from '#net';
import { endUnfinishedHandshakes } from '#net/http';
import type { ApiLimits } from './limits.ts';
import { httpOptions } from './raw-failures.ts';

/** PEM. */
export interface ApiTls {
  readonly cert: string;
  readonly key: string;
}

/** The server's options. The type is that of plain HTTP in both cases, because routes see no difference. */
export function transportOf(tls: ApiTls | undefined, limits: ApiLimits): { http: ServerOptions } {
  const http = httpOptions(limits);
  if (tls === undefined) return { http };
  const https = { ...http, ...contextOf(tls), handshakeTimeout: limits.headTimeoutMs };
  return { https } as unknown as { http: ServerOptions };
}

/** Ends the connections of clients that do not complete their handshake. */
export function followHandshakes(app: FastifyInstance, log: Log): void {
  if (app.server instanceof HttpsServer) endUnfinishedHandshakes(app.server, log);
}

/** Applies to new connections. Throws `invalid` and keeps the former pair if the new one does not work. */
export function setApiTls(app: FastifyInstance, tls: ApiTls): void {
  const context = contextOf(tls);
  if (app.server instanceof HttpsServer) app.server.setSecureContext(context);
}

function contextOf(tls: ApiTls): SecureContextOptions {
  try {
    createSecureContext(tls);
  } catch (cause) {
    const message = `the certificate and key of the Management API do not work: ${messageOf(cause)}`;
    throw new FrontdoorError('invalid', 'tls-files', message, { cause });
  }
  return {
    ...tls,
    minVersion: TLS_MIN_VERSION,
    ciphers: TLS_CIPHERS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}
