/**
 * Enrollment as OpenZiti defines it: a one-time token is exchanged for a certificate of a key that never leaves
 * this machine. It works with any OpenZiti control plane; ours also gets the name of the machine.
 */
import { FrontdoorError, isLoopbackHost } from '#base';
import type { IdentityFile } from '#net/files';
import type { OutwardDialer } from '#net';
import { JsonClient, type JsonAnswer } from '#net/http';
import {
  makeKeyRequest,
  makeRequestFor,
  parseCertificateBundle,
  type KeyRequest,
  type RequestDetails,
} from './certificate-signing.ts';
import { failureOf } from './edge-failure.ts';
import { proveEnrollmentToken, readEnrollmentToken, type EnrollmentToken } from './enrollment-token.ts';

const BASE_PATH = '/edge/client/v1';

export interface EnrollOptions {
  readonly jwt: string;
  /** Requested name of the environment. Our own programs always set it. */
  readonly name?: string | undefined;
  /** PEM anchors that the server's certificate must chain to, in addition to being proven by the token. */
  readonly ca?: string | undefined;
  /** For each step; 10 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Ends the enrollment; aborted before its last request, the token remains valid. */
  readonly signal?: AbortSignal | undefined;
  /** By default the server is reached directly. */
  readonly outward?: OutwardDialer | undefined;
}

export interface EnrolledIdentity {
  readonly identity: IdentityFile;
  /** The environment's (or gateway's) id. */
  readonly id: string;
}

export interface EnrolledRouter {
  readonly id: string;
  readonly keyPem: string;
  /** The key of `serverCertPem`: the same, unless another was given. */
  readonly serverKeyPem: string;
  /** Leaf and intermediate, for the control channel and links that it dials. */
  readonly certPem: string;
  /** Leaf and intermediate, for its listeners. */
  readonly serverCertPem: string;
  readonly caPem: string;
  /** `tls:host:port`. */
  readonly controlAddresses: readonly string[];
}

/** Enrolls an environment or a gateway (`em: ott`). Throws `FrontdoorError`s with the hop and the remedy. */
export async function enrollIdentity(options: EnrollOptions): Promise<EnrolledIdentity> {
  return withTrustedServer(options, ['ott'], async (token, client, caPem) => {
    const { keyPem, csrPem } = await makeKeyRequest(token.subject);
    const { signal } = options;
    signal?.throwIfAborted();
    const answer = await client.request({
      method: 'POST',
      signal,
      path: enrollPath(token),
      headers: { 'content-type': 'application/x-pem-file', ...nameHeader(options.name) },
      body: csrPem,
    });
    const { cert } = enrolled(answer, token, ['cert']);
    return { identity: { apiUrl: token.issuer, keyPem, certPem: cert!, caPem }, id: token.subject };
  });
}

interface RouterRequestOptions extends EnrollOptions, RequestDetails {
  /** Names at which the listeners of the router are dialed. */
  readonly hosts: readonly string[];
  /** An existing key (PEM) for both certificates; by default a new one. */
  readonly keyPem?: string | undefined;
  /** An existing key (PEM) for the server certificate; by default that of the client certificate. */
  readonly serverKeyPem?: string | undefined;
}

/** Enrolls a router (`em: erott`, or `trott` for one without an edge). */
export async function enrollRouter(options: RouterRequestOptions): Promise<EnrolledRouter> {
  return withTrustedServer(options, ['erott', 'trott'], async (token, client) => {
    const requestFor = async (keyPem: string): Promise<KeyRequest> => ({
      keyPem,
      csrPem: await makeRequestFor(keyPem, token.subject, options),
    });
    const request =
      options.keyPem === undefined
        ? await makeKeyRequest(token.subject, options)
        : await requestFor(options.keyPem);
    const serverRequest =
      options.serverKeyPem === undefined ? request : await requestFor(options.serverKeyPem);
    const answer = await client.request({
      method: 'POST',
      path: enrollPath(token),
      headers: nameHeader(options.name),
      body: { certCsr: request.csrPem, serverCertCsr: serverRequest.csrPem },
    });
    const { cert, serverCert, ca } = enrolled(answer, token, ['cert', 'serverCert', 'ca']);
    return {
      id: token.subject,
      keyPem: request.keyPem,
      serverKeyPem: serverRequest.keyPem,
      certPem: cert!,
      serverCertPem: serverCert!,
      caPem: ca!,
      controlAddresses: token.controlAddresses,
    };
  });
}

export interface BootstrapOptions {
  /** Base address of the Management API, without `/frontdoor`; https unless it is loopback. */
  readonly apiUrl: string;
  readonly code: string;
  /** PEM anchors that replace the system's. */
  readonly ca?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** By default the server is reached directly. */
  readonly outward?: OutwardDialer | undefined;
}

export interface BootstrapToken {
  readonly frontdoorId: string;
  /** The enrollment JWT. */
  readonly token: string;
  readonly expiresAt: string;
}

/** Exchanges an enrollment code for an enrollment JWT. Errors never contain the code. */
export async function fetchBootstrapToken(options: BootstrapOptions): Promise<BootstrapToken> {
  const url = URL.parse(options.apiUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new FrontdoorError(
      'invalid',
      'api-url-invalid',
      `${options.apiUrl} is not an http or https address`,
    );
  }
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    const message = `${url.origin} must be an https address, because an enrollment code is a secret`;
    throw new FrontdoorError('invalid', 'api-url-insecure', message);
  }
  const client = new JsonClient({
    origin: url.origin,
    ...limits(options),
    ca: options.ca,
  });
  try {
    const path = `${url.pathname.replace(/\/$/, '')}/frontdoor/agents/bootstrap-token/${encodeURIComponent(options.code)}`;
    const answer = await client.request({ method: 'GET', path });
    if (answer.status === 404) {
      throw new FrontdoorError(
        'notFound',
        'enrollment-code-refused',
        `the control plane at ${url.origin} does not accept this enrollment code: it is unknown, used or expired; create a new one`,
      );
    }
    const { frontdoorId, token, expiresAt } = (answer.json ?? {}) as Partial<BootstrapToken>;
    if (answer.status !== 200 || typeof token !== 'string' || typeof frontdoorId !== 'string') {
      throw failureOf(answer, `the control plane at ${url.origin}`);
    }
    return { frontdoorId, token, expiresAt: String(expiresAt) };
  } finally {
    await client.close();
  }
}

async function withTrustedServer<T>(
  options: EnrollOptions,
  methods: readonly string[],
  work: (token: EnrollmentToken, client: JsonClient, caPem: string) => Promise<T>,
): Promise<T> {
  const jwt = options.jwt.trim();
  const token = readEnrollmentToken(jwt);
  if (!methods.includes(token.method)) {
    const message = `this enrollment token is of kind ${token.method.slice(0, 16)}, not ${methods.join(' or ')}`;
    throw new FrontdoorError('invalid', 'enrollment-token-of-other-kind', message);
  }
  const leaf = await proveEnrollmentToken(jwt, token, options.timeoutMs ?? 10_000, options);
  const pinned = new JsonClient({
    origin: token.issuer,
    ca: leaf.toString(),
    pinned: true,
    ...limits(options),
  });
  let caPem: string;
  try {
    const path = `${BASE_PATH}/.well-known/est/cacerts`;
    const answer = await pinned.request({
      method: 'GET',
      path,
      headers: { accept: 'application/pkcs7-mime' },
      signal: options.signal,
    });
    if (answer.status !== 200) throw failureOf(answer, edgeApi(token));
    caPem = (await parseCertificateBundle(answer.text)).join('');
    if (caPem === '')
      throw new FrontdoorError('badGateway', 'bundle-empty', `${edgeApi(token)} sent no authority`);
  } finally {
    await pinned.close();
  }
  const client = new JsonClient({ origin: token.issuer, ca: caPem, ...limits(options) });
  try {
    return await work(token, client, caPem);
  } finally {
    await client.close();
  }
}

function enrollPath(token: EnrollmentToken): string {
  return `${BASE_PATH}/enroll?method=${token.method}&token=${encodeURIComponent(token.jti)}`;
}

function enrolled(
  answer: JsonAnswer,
  token: EnrollmentToken,
  fields: readonly string[],
): Record<string, string> {
  if (answer.status !== 200) {
    const failure = failureOf(answer, edgeApi(token));
    throw failure.code === 'INVALID_ENROLLMENT_TOKEN'
      ? new FrontdoorError(
          'unauthenticated',
          'enrollment-token-refused',
          `${edgeApi(token)} does not accept this enrollment token: it is unknown, used or expired; get a new one`,
          { cause: failure },
        )
      : failure;
  }
  const data = ((answer.json ?? {}) as { data?: Record<string, unknown> }).data ?? {};
  for (const field of fields) {
    if (typeof data[field] !== 'string' || !data[field].includes('-----BEGIN CERTIFICATE-----')) {
      throw new FrontdoorError(
        'badGateway',
        'enrollment-answer-invalid',
        `${edgeApi(token)} sent no ${field}`,
      );
    }
  }
  return data as Record<string, string>;
}

function edgeApi(token: EnrollmentToken): string {
  return `the edge API at ${token.issuer}`;
}

function nameHeader(name: string | undefined): Record<string, string> {
  return name === undefined ? {} : { 'frontdoor-name': encodeURIComponent(name) };
}

function limits({ timeoutMs, outward }: Pick<EnrollOptions, 'timeoutMs' | 'outward'>) {
  return { timeoutMs, outward };
}
