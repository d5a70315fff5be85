/** Schemas of the second factor of people at the console. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable } from '../schema-parts.ts';

const MAX_CODE_CHARS = 64;

export const secondFactorSchema = closed({
  available: Type.Boolean({
    description: 'Whether the caller can have one: a person who signs in with a password',
  }),
  enrolled: Type.Boolean({ description: 'Whether a second factor is set up' }),
  demanded: Type.Boolean({
    description: 'Whether the organization requires it for sign-ins with a password',
  }),
  recoveryCodesLeft: Type.Integer({ minimum: 0, description: 'The number of unused recovery codes' }),
  enrolledAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When the caller enrolled; null: not enrolled',
  }),
});
export type SecondFactorAnswer = Static<typeof secondFactorSchema>;

export const secondFactorSecretSchema = closed({
  secret: Type.String({
    description: 'The secret in Base32, to enter in an authenticator app. It is shown only in this response',
    examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
  }),
  url: Type.String({
    description: 'The URL with which an authenticator app imports the secret',
    examples: [
      'otpauth://totp/Frontdoor:ann%40example.com?issuer=Frontdoor&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    ],
  }),
  picture: Type.String({
    description: 'The URL as a QR code: a PNG image in a data URL',
    examples: ['data:image/png;base64,iVBORw0KGgo='],
  }),
});

export const secondFactorCodeSchema = closed({
  code: Type.String({
    minLength: 1,
    maxLength: MAX_CODE_CHARS,
    description: 'The six digits that the app shows',
    examples: ['287082'],
  }),
});

export const recoveryCodesSchema = closed({
  recoveryCodes: Type.Array(Type.String({ examples: ['MFRGGZDFMZ'] }), {
    description: 'Codes that can each be used once instead of a code from the app',
  }),
});
