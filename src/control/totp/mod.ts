/** One-time passwords as second factor: secrets, codes, recovery codes, and the picture for authenticator apps. */
export {
  beginPersonFactor,
  confirmPersonFactor,
  personFactorNeed,
  renewPersonRecovery,
  usePersonCode,
  type FactorConfirmation,
  type PersonCodeCheck,
  type PersonFactorNeed,
} from './person-factor.ts';
export { newRecoveryCodes } from './recovery-codes.ts';
export { usedCode, type TotpFactor } from './totp-factor.ts';
export { newTotpSecret, provisioningUrlOf, qrPictureOf } from './totp-secret.ts';
