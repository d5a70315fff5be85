/** Schemas of the installation's outside view, and of the result of a check of an auth provider. */
import type { Static } from 'typebox';
import { Type } from './schema-builder.ts';
import { closed, nullable, timestamp, url } from './schema-parts.ts';

export const edgeRouterSchema = closed({
  name: Type.String({ description: 'What the router is called' }),
  address: Type.String({ description: '`host:port` that agents, gateways and SDKs connect to' }),
  online: Type.Boolean({ description: 'Whether it is connected to a control plane' }),
});

export const controlPlaneSchema = closed({
  apiUrl: Type.String({ description: 'Where its Management API is' }),
  silentSince: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When it was last heard of, if it died without leaving in the last 24 hours; null: it runs',
  }),
});

export const overdueCertificateSchema = closed({
  kind: Type.Unsafe<'environment' | 'gateway' | 'router'>({
    type: 'string',
    enum: ['environment', 'gateway', 'router'],
    description: 'What it is the certificate of',
  }),
  name: Type.String({ description: 'What that is called' }),
  expiresAt: timestamp(),
});

export const installationSchema = closed({
  edgeApiUrl: Type.String({
    format: 'uri',
    description: 'Where agents, gateways and SDKs enroll and log in',
  }),
  routers: Type.Array(edgeRouterSchema, {
    description: 'Routers that agents, gateways and SDKs connect to',
  }),
  controlPlanes: Type.Optional(
    Type.Array(controlPlaneSchema, {
      description: 'Control planes over the same database, for callers with frontdoor.admin',
    }),
  ),
  overdueCertificates: Type.Optional(
    Type.Array(overdueCertificateSchema, {
      description:
        'Certificates of the installation that should have been renewed by now, the first 100 to end, for callers with frontdoor.admin',
    }),
  ),
});
export type InstallationAnswer = Static<typeof installationSchema>;

export const providerCheckSchema = closed({
  callbackUrls: Type.Array(url(), {
    description: 'What to register as redirect addresses at the identity provider; none for API_KEY',
  }),
  discovery: Type.Unsafe<'ok' | 'failed' | 'none'>({
    type: 'string',
    enum: ['ok', 'failed', 'none'],
    description:
      'Whether the control plane could fetch what the issuer publishes; none: its type has no issuer',
  }),
  problem: nullable<string>({ type: 'string', description: 'Why discovery failed; null: it did not' }),
});
export type ProviderCheckAnswer = Static<typeof providerCheckSchema>;
