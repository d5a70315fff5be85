/**
 * Schemas of the Management API's resources. Types, validation and the API description are derived from them.
 * Request bodies accept the read-only fields of their resource, so that a resource can be sent back as it was
 * read.
 */
import type { Static, TObject } from 'typebox';
import { Type } from '#base/shapes';
import { BACKEND_MODES } from '#domain';
import { INGRESS_KINDS, type IngressKind } from '#domain/backend-modes';
import {
  closed,
  ids,
  nameText,
  nullable,
  oneOf,
  readOnly,
  text,
  timestamp,
  url,
  uuid,
} from '../schema-parts.ts';

const shareMode = () => oneOf('public', 'private');
const backendMode = () => oneOf(...BACKEND_MODES);
const shareState = () => oneOf('PENDING', 'DEPLOYED', 'FAILED');
const environmentState = () => oneOf('ACTIVE', 'INACTIVE');

export const errorSchema = closed({ error: Type.String(), message: Type.String() });

export const frontdoorSchema = closed({ id: uuid(), name: Type.String(), organizationId: uuid() });

export const frontdoorChangeSchema = closed({
  name: Type.Optional(nameText()),
  id: readOnly(),
  organizationId: readOnly(),
});

export const newFrontdoorSchema = closed({
  name: nameText(),
  organizationId: uuid(),
  id: readOnly(),
  createdAt: readOnly(),
});

export const environmentEntrySchema = closed({
  id: Type.String(),
  name: Type.String(),
  status: environmentState(),
});
export type EnvironmentEntry = Static<typeof environmentEntrySchema>;

const contact = () => ({
  lastSeenAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description:
      'When its agent was last seen: the current time while it is connected, otherwise its last connection or call, accurate to about a minute; null: never',
  }),
  remoteAddress: nullable<string>({
    type: 'string',
    description: 'The address from which its agent last called a control plane; null: never',
  }),
  shareCount: Type.Integer({ description: 'The number of shares that it hosts' }),
});

export const environmentSchema = closed({
  id: Type.String(),
  name: Type.String(),
  status: environmentState(),
  createdAt: timestamp(),
  ...contact(),
});

export const environmentChangeSchema = closed({
  name: Type.Optional(nameText()),
  id: readOnly(),
  status: readOnly(),
  lastSeenAt: readOnly(),
  remoteAddress: readOnly(),
  shareCount: readOnly(),
  createdAt: readOnly(),
});

export const agentEntrySchema = closed({
  id: Type.String(),
  name: Type.String(),
  status: environmentState(),
  version: nullable<string>({ type: 'string' }),
  ...contact(),
});

export const enrollmentSchema = closed({
  frontdoorId: uuid(),
  enrollmentCode: Type.String(),
  expiresAt: timestamp(),
});

const MIN_LIFETIME_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 7 * 86_400;

export const newEnrollmentSchema = closed({
  name: Type.Optional(
    Type.String({
      format: 'name',
      description: 'A name for the enrollment, and for the environment if its agent has no name',
    }),
  ),
  lifetimeSeconds: Type.Optional(
    Type.Integer({
      minimum: MIN_LIFETIME_SECONDS,
      maximum: MAX_LIFETIME_SECONDS,
      description: 'Lifetime of the code in seconds, from one minute to 7 days; 15 minutes by default',
      examples: [86_400],
    }),
  ),
});

export const agentEnrollmentSchema = closed({
  id: uuid(),
  name: nullable<string>({ type: 'string', description: 'The given name; null if there is none' }),
  state: Type.Unsafe<'open' | 'used' | 'expired' | 'refused'>({
    type: 'string',
    enum: ['open', 'used', 'expired', 'refused'],
    description: 'Whether an agent can enroll with it',
  }),
  createdAt: timestamp(),
  expiresAt: timestamp(),
  usedAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When an agent enrolled with it; null if none did',
  }),
  environmentId: nullable<string>({
    type: 'string',
    description:
      'The environment of the agent that enrolled with it; null if there is none, or if it has been deleted',
  }),
});

export type AgentEnrollmentAnswer = Static<typeof agentEnrollmentSchema>;

export const bootstrapTokenSchema = closed({
  frontdoorId: uuid(),
  token: Type.String(),
  expiresAt: timestamp(),
});

export const agentStatusSchema = closed({
  frontdoorId: uuid(),
  shares: Type.Array(
    closed({
      token: Type.String(),
      shareMode: shareMode(),
      backendMode: backendMode(),
      reserved: Type.Boolean(),
      frontendEndpoints: Type.Array(url()),
      backendEndpoint: url(),
      status: shareState(),
    }),
  ),
});

export const agentVersionSchema = closed({ frontdoorId: uuid(), version: Type.String() });

export const shareSchema = closed({
  token: Type.String(),
  name: nullable<string>({ type: 'string' }),
  shareMode: shareMode(),
  backendMode: backendMode(),
  reserved: Type.Boolean({
    description: 'Whether the share is kept until it is deleted, as shares with a name are',
  }),
  environmentId: Type.String(),
  target: url(),
  frontendIds: Type.Array(Type.String()),
  frontendEndpoints: Type.Array(url()),
  backendEndpoint: url(),
  authProviderIds: Type.Array(Type.String()),
  policyId: nullable<string>({
    type: 'string',
    description: 'The shared policy whose rules apply; null: the share has rules of its own',
  }),
  ingress: nullable<IngressKind>({
    type: 'string',
    enum: [...INGRESS_KINDS, null],
    description: 'How clients reach a public share with a tcp:// or udp:// target; null for all others',
  }),
  ingressPort: nullable<number>({
    type: 'integer',
    description:
      'The port of gateways at which a public share with a tcp:// or udp:// target is reached; null for all others',
  }),
  grants: Type.Array(Type.String(), { description: 'Environments that can dial it' }),
  access: closed({
    admits: oneOf('everyone', 'some', 'nobody'),
    summary: Type.String({ description: 'Who has access, in one sentence' }),
  }),
  status: shareState(),
  failure: Type.Optional(
    closed({
      count: Type.Integer({ description: 'Number of consecutive failed probes' }),
      lastError: Type.String(),
      presentedCertificate: Type.Optional(Type.String({ format: 'certificate-pin' })),
      nextRetry: timestamp(),
    }),
  ),
  createdAt: timestamp(),
});
export type ShareAnswer = Static<typeof shareSchema>;

const givenShareName = () => nullable<string>({ type: 'string', format: 'share-name' });
const shareTarget = () => Type.String({ format: 'share-target' });
const frontendIds = () => ids(100, 'Frontends on which a public share is served');
const grants = () => ids(1_000, 'Environments that can dial a private share');
const ingress = () =>
  nullable<IngressKind>({
    type: 'string',
    enum: [...INGRESS_KINDS, null],
    description:
      'How clients reach a public share with a tcp:// or udp:// target: at a port of its own (port), or, for tcp://, under its names at the HTTPS port of the gateways, where TLS ends at the gateway (tls) or at the service (tls-passthrough); null: as before, and port for a new share',
  });
const ingressPort = () =>
  nullable<number>({
    type: 'integer',
    minimum: 1,
    maximum: 65_535,
    description:
      'Port of a public share with a tcp:// or udp:// target, among those that gateways open; null: any free port, which it keeps',
  });
const sharedPolicy = (description: string) =>
  Type.Optional(nullable<string>({ type: 'string', format: 'uuid', description }));
const readOnlyOfShares = () => ({
  id: readOnly(),
  frontendEndpoints: readOnly(),
  backendEndpoint: readOnly(),
  access: readOnly(),
  status: readOnly(),
  failure: readOnly(),
  createdAt: readOnly(),
});

export const newShareSchema = closed({
  name: Type.Optional(givenShareName()),
  environmentId: text(),
  shareMode: shareMode(),
  backendMode: backendMode(),
  target: shareTarget(),
  frontendIds: Type.Optional(frontendIds()),
  authProviderIds: Type.Optional(ids(100)),
  policyId: sharedPolicy('The shared policy whose rules apply; null: none'),
  ingress: Type.Optional(ingress()),
  ingressPort: Type.Optional(ingressPort()),
  grants: Type.Optional(grants()),
  token: readOnly(),
  reserved: readOnly(),
  ...readOnlyOfShares(),
});

export const shareChangeSchema = closed({
  name: Type.Optional(givenShareName()),
  environmentId: Type.Optional(text()),
  shareMode: Type.Optional(shareMode()),
  backendMode: Type.Optional(backendMode()),
  target: Type.Optional(shareTarget()),
  reserved: Type.Optional(Type.Boolean()),
  frontendIds: Type.Optional(frontendIds()),
  authProviderIds: Type.Optional(ids(100)),
  policyId: sharedPolicy(
    'The shared policy whose rules apply instead of those of the share; null: the share keeps the rules of its policy as rules of its own',
  ),
  ingress: Type.Optional(ingress()),
  ingressPort: Type.Optional(ingressPort()),
  grants: Type.Optional(grants()),
  token: Type.Optional(text()),
  ...readOnlyOfShares(),
});
export type ShareChangeBody = Static<typeof shareChangeSchema>;

export const newFabricNodeSchema = closed({
  name: nameText(),
  id: readOnly(),
  createdAt: readOnly(),
});

const routerAttributes = () => ({
  tunneler: Type.Optional(
    Type.Boolean({
      description:
        'Whether its tunnel listeners can host and dial services of the edge management API, according to the policies for the identity with its ID; false by default',
    }),
  ),
  roleAttributes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: 100,
      description:
        'Attributes by which policies of the edge management API select it. The ID of a frontdoor allows its private shares to be granted to a router that can tunnel.',
    }),
  ),
});

/** Attributes that are given replace all of the former. */
export const routerChangeSchema = closed({ ...routerAttributes(), id: readOnly(), createdAt: readOnly() });

export const newRouterSchema = closed({
  name: nameText(),
  ...routerAttributes(),
  id: readOnly(),
  createdAt: readOnly(),
});

export const fabricNodeTokenSchema = closed({ id: Type.String(), name: Type.String(), token: Type.String() });

export const fabricNodeSchema = closed({
  id: Type.String(),
  name: Type.String(),
  /** Whether it holds a certificate. */
  enrolled: Type.Boolean(),
  online: Type.Boolean({ description: 'Whether it is connected to a router' }),
  version: nullable<string>({
    type: 'string',
    description: 'The version that it reported when it last signed in; null: none',
  }),
  createdAt: timestamp(),
});

export const frontendListSchema = Type.Array(
  closed({ id: Type.String(), urlTemplate: Type.String(), publicName: Type.String() }),
);

export const pageableSchema = closed({ pageNumber: Type.Integer(), pageSize: Type.Integer() });

export function pageSchema<Entry extends TObject>(entry: Entry) {
  return closed({ content: Type.Array(entry), pageable: pageableSchema });
}

export function countedPageSchema<Entry extends TObject>(entry: Entry) {
  return closed({
    content: Type.Array(entry),
    pageable: pageableSchema,
    totalElements: Type.Integer(),
    totalPages: Type.Integer(),
  });
}

export const tokenRequestSchema = Type.Object(
  {
    grant_type: oneOf('client_credentials'),
    client_id: Type.Optional(
      Type.String({ description: 'Absent if the client authenticates with HTTP Basic' }),
    ),
    client_secret: Type.Optional(Type.String({ description: 'Likewise' })),
    audience: Type.String({ description: '{base_url}/frontdoor' }),
    scope: Type.Optional(
      Type.String({ description: 'Scopes separated by spaces; by default all scopes of the client' }),
    ),
  },
  {
    examples: [
      {
        grant_type: 'client_credentials',
        client_id: 'CLIENT_ID',
        client_secret: 'CLIENT_SECRET',
        audience: 'https://frontdoor.example/frontdoor',
        scope: 'frontdoor.read frontdoor.write',
      },
    ],
  },
);

/** Describes a token request that is sent as a form. Other names are accepted; a repeated name is refused. */
export const tokenFormSchema = Type.Object(tokenRequestSchema.properties, {
  additionalProperties: Type.String(),
});

export const tokenSchema = closed({
  access_token: Type.String(),
  token_type: oneOf('Bearer'),
  expires_in: Type.Integer(),
  scope: Type.String(),
});

export const openObjectSchema = Type.Object({});
