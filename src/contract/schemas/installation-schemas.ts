/** Schemas of the installation as its users see it, and of the result of checking an auth provider. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, oneOf, timestamp, url, uuid } from '../schema-parts.ts';

export const edgeRouterSchema = closed({
  name: Type.String({ description: 'Name of the router' }),
  address: Type.String({ description: '`host:port` that agents, gateways and SDKs connect to' }),
  online: Type.Boolean({ description: 'Whether it is connected to a control plane' }),
});

export const controlPlaneSchema = closed({
  apiUrl: Type.String({ description: 'Address of its Management API' }),
  silentSince: nullable<string>({
    type: 'string',
    format: 'date-time',
    description:
      'When a control plane that stopped unexpectedly in the last 24 hours was last seen; null: it is running',
  }),
});

export const overdueCertificateSchema = closed({
  kind: Type.Unsafe<'environment' | 'gateway' | 'router'>({
    type: 'string',
    enum: ['environment', 'gateway', 'router'],
    description: "Kind of the certificate's holder",
  }),
  name: Type.String({ description: 'Name of the holder' }),
  expiresAt: timestamp(),
});

/** Only for callers with frontdoor.admin. */
export const databaseSchema = closed({
  kind: oneOf('embedded', 'postgres'),
  schema: Type.String({ description: 'The newest step of its schema' }),
  bytes: Type.Integer({ minimum: 0, description: 'Its size in bytes' }),
});

export const installationSchema = closed({
  version: nullable<string>({
    type: 'string',
    description: 'The version of this control plane; null: it is not known',
  }),
  edgeApiUrl: Type.String({
    format: 'uri',
    description: 'Address at which agents, gateways and SDKs enroll and authenticate',
  }),
  routers: Type.Array(edgeRouterSchema, {
    description: 'Routers that agents, gateways and SDKs connect to',
  }),
  mail: Type.Boolean({
    description: 'Whether the operator configured a mail server, so that notifications can be sent by email',
  }),
  controlPlanes: Type.Optional(
    Type.Array(controlPlaneSchema, {
      description: 'Control planes that share the database; only for callers with frontdoor.admin',
    }),
  ),
  database: Type.Optional(databaseSchema),
  overdueCertificates: Type.Optional(
    Type.Array(overdueCertificateSchema, {
      description:
        'Certificates that are due for renewal, the first 100 to expire; only for callers with frontdoor.admin',
    }),
  ),
});
export type InstallationAnswer = Static<typeof installationSchema>;

const discovery = () => ({
  discovery: Type.Unsafe<'ok' | 'failed' | 'none'>({
    type: 'string',
    enum: ['ok', 'failed', 'none'],
    description: "Whether the control plane could fetch the issuer's metadata; none: the type has no issuer",
  }),
  problem: nullable<string>({ type: 'string', description: 'Why discovery failed; null: it did not fail' }),
});

export const providerCheckSchema = closed({
  callbackUrls: Type.Array(url(), {
    description: 'Redirect addresses to register at the identity provider; none for API_KEY',
  }),
  ...discovery(),
});
export type ProviderCheckAnswer = Static<typeof providerCheckSchema>;

/** The ID of a provider that does not exist yet. The callback addresses contain it. */
export const providerReservationSchema = closed({
  id: uuid(),
  reservation: Type.String({ description: 'Sent with the creation, it gives the provider this ID' }),
  expiresAt: timestamp(),
  callbackUrls: Type.Array(url(), { description: 'Redirect addresses to register at the identity provider' }),
  consoleCallbackUrl: Type.String({
    format: 'uri',
    description:
      'The redirect address to register as well if people sign in to the console with the provider',
  }),
});

export const providerDraftCheckSchema = closed(discovery());
export type ProviderDraftCheckAnswer = Static<typeof providerDraftCheckSchema>;
