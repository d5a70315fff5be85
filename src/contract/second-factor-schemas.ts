/** Schemas of the second factor of people at the console. */
import type { Static } from 'typebox';
import { Type } from '#base';
import { closed, nullable } from './schema-parts.ts';

const MAX_CODE_CHARS = 64;

export const secondFactorSchema = closed({
  available: Type.Boolean({
    description: 'Whether the caller can have one: a person who logs in with a password',
  }),
  enrolled: Type.Boolean({ description: 'Whether log-ins with the password ask for a code' }),
  demanded: Type.Boolean({ description: 'Whether the organization demands it of log-ins with a password' }),
  recoveryCodesLeft: Type.Integer({ minimum: 0, description: 'How many recovery codes were not used yet' }),
  enrolledAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When the caller enrolled; null: not enrolled',
  }),
});
export type SecondFactorAnswer = Static<typeof secondFactorSchema>;

export const secondFactorSecretSchema = closed({
  secret: Type.String({
    description: 'The secret in Base32, to type into an authenticator app. It is shown only in this response',
    examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
  }),
  url: Type.String({
    description: 'The address by which an app takes the secret',
    examples: [
      'otpauth://totp/Frontdoor:ann%40example.com?issuer=Frontdoor&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    ],
  }),
  picture: Type.String({
    description: 'The address as QR code: a PNG image, as data URL',
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
    description: 'Each replaces a code of the app once',
  }),
});
