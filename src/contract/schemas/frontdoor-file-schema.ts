/** The schema of the file that `frontdoor apply` makes a frontdoor after: its auth providers, shared policies, custom frontends and shares. */
import { Part, Type, type ShapeOf } from '#base/shapes';
import { AUTH_PROVIDER_TYPES } from '#domain/provider-types';
import { described, fileProviderNames, fileShareFields } from './agent-file-schema.ts';
import { fileSchemaOf } from './file-schema.ts';
import { policyRulesSchema } from './policy-schemas.ts';

const MAX_ENTRIES = 1_000;

const fileAuthProviderSchema = Part.closed({
  name: described(Part.someText(), 'Name of the auth provider, by which other entries refer to it'),
  type: described(Part.oneOf(...AUTH_PROVIDER_TYPES), 'Its type'),
  enabled: Type.Optional(described(Part.flag(), 'Whether it admits anyone; true by default')),
  data: described(Part.anyObject(), 'Its settings, by the JSON Schema of the type'),
});

const filePolicySchema = Part.closed({
  name: described(Part.someText(), 'Name of the shared policy, by which shares refer to it'),
  ...Part.optional(fileSchemaOf(policyRulesSchema).properties),
});

const fileCustomFrontendSchema = Part.closed({
  hostname: described(Part.someText(), 'The hostname, below which each share has a name'),
  frontend: Type.Optional(
    described(Part.someText(), 'Name or ID of the frontend; absent: the only one there is'),
  ),
  authProviders: Type.Optional(
    fileProviderNames(
      'Names or IDs of the auth providers for shares on this hostname that have none of their own. Absent: it keeps its auth providers',
    ),
  ),
});

const fileGuardedShareSchema = Part.closed({
  ...fileShareFields(),
  environment: described(Part.someText(), 'Name or ID of the environment whose agent hosts the share'),
});

export const frontdoorFileSchema = Part.closed({
  authProviders: Type.Optional(Type.Array(fileAuthProviderSchema, { maxItems: MAX_ENTRIES })),
  policies: Type.Optional(Type.Array(filePolicySchema, { maxItems: MAX_ENTRIES })),
  customFrontends: Type.Optional(Type.Array(fileCustomFrontendSchema, { maxItems: MAX_ENTRIES })),
  shares: Type.Optional(Type.Array(fileGuardedShareSchema, { maxItems: MAX_ENTRIES })),
});

export type FrontdoorFile = ShapeOf<typeof frontdoorFileSchema>;
export type FileAuthProvider = ShapeOf<typeof fileAuthProviderSchema>;
export type FileCustomFrontend = ShapeOf<typeof fileCustomFrontendSchema>;
export type FileGuardedShare = ShapeOf<typeof fileGuardedShareSchema>;
