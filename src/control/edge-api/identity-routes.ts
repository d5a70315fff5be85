/** What a client reads about its own identity, and its authenticators: the certificates that it may present. */
import { X509Certificate } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { fingerprintOf } from '#net';
import { couldNotValidate, notFound, sendData } from './edge-answer.ts';
import { certificateAuthenticatorView, type CertificateRow } from './authenticator-view.ts';
import { bodyRule, MAX_CSR_BYTES } from './edge-body.ts';
import { callerOf, queryOf, type EdgeApiContext } from './edge-context.ts';
import { jsonBody, sendPage } from './edge-request.ts';
import { renewedClient } from './enroll-routes.ts';
import { authenticatorSymbols, routerSymbols } from './entity-symbols.ts';
import { identityView, routerView } from './service-view.ts';

interface ById {
  Params: { id: string };
}

const AUTHENTICATORS = '/current-identity/authenticators';

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addIdentityRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  const { store, status } = context;
  const renews = { config: bodyRule({ maxBytes: MAX_CSR_BYTES }) };

  app.get('/current-identity', async (request, reply) => {
    const { identity, leaf } = callerOf(context, request).peer;
    const row = await store.db
      .selectFrom('identity')
      .select('created_at')
      .where('id', '=', identity.id)
      .executeTakeFirst();
    if (row === undefined) throw notFound();
    const isConnected = status.isConnected(identity.id);
    return sendData(reply, identityView(identity, leaf.fingerprint, row.created_at, isConnected));
  });

  app.get('/current-identity/edge-routers', (request, reply) => {
    callerOf(context, request);
    return sendPage(reply, queryOf(request), context.routers(), routerSymbols, routerView);
  });

  app.get(AUTHENTICATORS, async (request, reply) => {
    const { identity } = callerOf(context, request).peer;
    const rows = await certificatesOf(context, identity.id);
    return sendPage(reply, queryOf(request), rows, authenticatorSymbols, (row) =>
      certificateAuthenticatorView(row, identity),
    );
  });

  app.get<ById>(`${AUTHENTICATORS}/:id`, async (request, reply) => {
    const { identity } = callerOf(context, request).peer;
    const row = (await certificatesOf(context, identity.id)).find(({ id }) => id === request.params.id);
    if (row === undefined) throw notFound();
    return sendData(reply, certificateAuthenticatorView(row, identity));
  });

  // The id is that of the certificate in use, or of the one that an earlier renewal replaced.
  app.post<ById>(`${AUTHENTICATORS}/:id/extend`, renews, async (request, reply) => {
    const { peer } = callerOf(context, request);
    if (!peer.identity.fingerprints.includes(request.params.id)) throw notFound();
    const { clientCertCsr } = (jsonBody(request) ?? {}) as { clientCertCsr?: unknown };
    if (typeof clientCertCsr !== 'string') throw couldNotValidate('clientCertCsr is missing');
    const clientCert = await renewedClient(context, request, peer, clientCertCsr);
    return sendData(reply, { clientCert, ca: context.pki.caBundlePem });
  });

  // The former certificate ends with the first call that presents the new one.
  app.post<ById>(`${AUTHENTICATORS}/:id/extend-verify`, renews, (request, reply) => {
    const { identity } = callerOf(context, request).peer;
    const { clientCert } = (jsonBody(request) ?? {}) as { clientCert?: unknown };
    if (typeof clientCert !== 'string') throw couldNotValidate('clientCert is missing');
    if (!identity.fingerprints.includes(fingerprintOfPem(clientCert))) throw notFound();
    return sendData(reply, {});
  });
}

async function certificatesOf({ store }: EdgeApiContext, identityId: string): Promise<CertificateRow[]> {
  const rows = await store.db
    .selectFrom('certificate')
    .select(['fingerprint', 'created_at'])
    .where('identity_id', '=', identityId)
    .orderBy('created_at')
    .orderBy('fingerprint')
    .execute();
  return rows.map((row) => ({ id: row.fingerprint, createdAtMs: row.created_at }));
}

/** @throws EdgeApiRefusal if it is no certificate. */
function fingerprintOfPem(pem: string): string {
  try {
    return fingerprintOf(new X509Certificate(pem));
  } catch {
    throw couldNotValidate('clientCert is not a certificate in PEM');
  }
}
