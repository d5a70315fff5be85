/**
 * Signature Version 4 of AWS for one request, in its Authorization header. It covers what Route 53 needs: a path that needs
 * no escaping, a query, and a body that is a text. Tested with the examples that AWS publishes.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Secret } from '#base';

const ALGORITHM = 'AWS4-HMAC-SHA256';

export interface AwsKey {
  readonly id: string;
  readonly secret: Secret;
  /** Temporary keys have one. */
  readonly sessionToken?: Secret | undefined;
}

export interface AwsRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** The host header, and others in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface AwsScope {
  readonly region: string;
  readonly service: string;
  readonly nowMs: number;
}

/** Returns the headers to send: those given, and the date, session token and signature. */
export function signAwsRequest(
  { method, path, query = {}, headers: given, body = '' }: AwsRequest,
  { id, secret, sessionToken }: AwsKey,
  { region, service, nowMs }: AwsScope,
): Readonly<Record<string, string>> {
  const time = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const headers: Record<string, string> = { ...given, 'x-amz-date': time };
  if (sessionToken !== undefined) headers['x-amz-security-token'] = sessionToken.reveal();
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    path,
    queryText(query),
    ...names.map((name) => `${name}:${headers[name]!.trim().replaceAll(/ +/g, ' ')}`),
    '',
    names.join(';'),
    sha256(body),
  ].join('\n');
  const scope = [time.slice(0, 8), region, service, 'aws4_request'];
  const text = [ALGORITHM, time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>((parent, part) => hmac(parent, part), `AWS4${secret.reveal()}`);
  headers['authorization'] =
    `${ALGORITHM} Credential=${id}/${scope.join('/')}, SignedHeaders=${names.join(';')}, ` +
    `Signature=${hmac(key, text).toString('hex')}`;
  return headers;
}

/** In the order and with the escapes that the signature demands. */
export function queryText(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
}

function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
