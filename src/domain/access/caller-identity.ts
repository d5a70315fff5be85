import { Part, Type, type ShapeOf } from '#base/shapes';

const { anyObject, nullable, oneOf, text, texts } = Part;

export const callerIdentitySchema = Type.Object({
  /** The auth provider that proved it; null for basic auth or a client certificate. */
  providerId: nullable(text()),
  kind: oneOf('session', 'token', 'api-key', 'basic', 'certificate'),
  /** The subject at the identity provider, or the name of a key, a user or a certificate. */
  subject: text(),
  /** Verified, in lower case; null if there is none. */
  email: nullable(text()),
  name: nullable(text()),
  groups: texts(),
  /** Input of claim rules: texts, numbers, booleans, and lists and objects of those; at most 8 KiB as JSON. */
  claims: anyObject(),
});

/** The identity of a caller, on which gateways base decisions and which they send to origins. */
export type CallerIdentity = ShapeOf<typeof callerIdentitySchema>;

export const MAX_IDENTITY_BYTES = 8_192;
