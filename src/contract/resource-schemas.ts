/**
 * What the Management API's resources look like, written once: types, validation and the API's description come from
 * here. Bodies of requests accept the read-only fields of their resource, so that what was read can be sent back.
 */
import Type, { type Static, type TProperties, type TObject } from 'typebox';

const uuid = () => Type.String({ format: 'uuid' });
const text = () => Type.String({ maxLength: 300 });
const timestamp = () => Type.String({ format: 'date-time' });
const url = () => Type.String({ format: 'uri' });
const ids = (maxItems: number) => Type.Array(text(), { maxItems });
/** Accepted whatever it is, and ignored. */
const readOnly = () => Type.Optional(Type.Unknown({ readOnly: true }));

function closed<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false });
}

const SHARE_MODES = ['public', 'private'] as const;
const shareMode = () => Type.Unsafe<(typeof SHARE_MODES)[number]>({ type: 'string', enum: [...SHARE_MODES] });
/** Only what gateways serve today; the other modes join the list with their gateways. */
const backendMode = () => Type.Unsafe<'proxy'>({ type: 'string', enum: ['proxy'] });
const shareState = () =>
  Type.Unsafe<'PENDING' | 'DEPLOYED' | 'FAILED'>({ type: 'string', enum: ['PENDING', 'DEPLOYED', 'FAILED'] });
const environmentState = () =>
  Type.Unsafe<'ACTIVE' | 'INACTIVE'>({ type: 'string', enum: ['ACTIVE', 'INACTIVE'] });

export const errorSchema = closed({ error: Type.String(), message: Type.String() });

export const frontdoorSchema = closed({ id: uuid(), name: Type.String(), organizationId: uuid() });

export const newFrontdoorSchema = closed({
  name: Type.String({ format: 'name' }),
  organizationId: uuid(),
  id: readOnly(),
  createdAt: readOnly(),
});
export type NewFrontdoorBody = Static<typeof newFrontdoorSchema>;

export const environmentEntrySchema = closed({
  id: Type.String(),
  name: Type.String(),
  status: environmentState(),
});
export type EnvironmentEntry = Static<typeof environmentEntrySchema>;

export const environmentSchema = closed({
  id: Type.String(),
  name: Type.String(),
  status: environmentState(),
  createdAt: timestamp(),
});

export const agentEntrySchema = closed({
  id: Type.String(),
  name: Type.String(),
  status: environmentState(),
  version: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
});

export const enrollmentSchema = closed({
  frontdoorId: uuid(),
  enrollmentCode: Type.String(),
  expiresAt: timestamp(),
});

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
  name: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  shareMode: shareMode(),
  backendMode: backendMode(),
  reserved: Type.Boolean(),
  environmentId: Type.String(),
  target: url(),
  frontendIds: Type.Array(Type.String()),
  frontendEndpoints: Type.Array(url()),
  backendEndpoint: url(),
  authProviderIds: Type.Array(Type.String()),
  grants: Type.Array(Type.String()),
  status: shareState(),
  failure: Type.Optional(closed({ count: Type.Integer(), lastError: Type.String(), nextRetry: timestamp() })),
  createdAt: timestamp(),
});
export type ShareAnswer = Static<typeof shareSchema>;

const givenShareName = () => Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'share-name' });
const shareTarget = () => Type.String({ format: 'share-target' });
const readOnlyOfShares = () => ({
  id: readOnly(),
  frontendEndpoints: readOnly(),
  backendEndpoint: readOnly(),
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
  frontendIds: Type.Optional(ids(100)),
  authProviderIds: Type.Optional(ids(100)),
  grants: Type.Optional(ids(1_000)),
  token: readOnly(),
  reserved: readOnly(),
  ...readOnlyOfShares(),
});
export type NewShareBody = Static<typeof newShareSchema>;

export const shareChangeSchema = closed({
  name: Type.Optional(givenShareName()),
  environmentId: Type.Optional(text()),
  shareMode: Type.Optional(shareMode()),
  backendMode: Type.Optional(backendMode()),
  target: Type.Optional(shareTarget()),
  reserved: Type.Optional(Type.Boolean()),
  frontendIds: Type.Optional(ids(100)),
  authProviderIds: Type.Optional(ids(100)),
  grants: Type.Optional(ids(1_000)),
  token: Type.Optional(text()),
  ...readOnlyOfShares(),
});
export type ShareChangeBody = Static<typeof shareChangeSchema>;

export const newFabricNodeSchema = closed({
  name: Type.String({ format: 'name' }),
  id: readOnly(),
  createdAt: readOnly(),
});
export type NewFabricNodeBody = Static<typeof newFabricNodeSchema>;

export const fabricNodeTokenSchema = closed({ id: Type.String(), name: Type.String(), token: Type.String() });

export const fabricNodeSchema = closed({
  id: Type.String(),
  name: Type.String(),
  /** Whether it holds a certificate. */
  enrolled: Type.Boolean(),
  createdAt: timestamp(),
});

const pageable = () => closed({ pageNumber: Type.Integer(), pageSize: Type.Integer() });

export function pageSchema(entry: TObject): TObject {
  return closed({ content: Type.Array(entry), pageable: pageable() });
}

export function countedPageSchema(entry: TObject): TObject {
  return closed({
    content: Type.Array(entry),
    pageable: pageable(),
    totalElements: Type.Integer(),
    totalPages: Type.Integer(),
  });
}

export const tokenSchema = closed({
  access_token: Type.String(),
  token_type: Type.Unsafe<'Bearer'>({ type: 'string', enum: ['Bearer'] }),
  expires_in: Type.Integer(),
  scope: Type.String(),
});

export const openObjectSchema = Type.Object({});
