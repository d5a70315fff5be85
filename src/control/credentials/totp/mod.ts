/** One-time passwords as second factor: secrets, codes, recovery codes, and the picture for authenticator apps. */
export {
  type FactorConfirmation,
  type PersonCodeCheck,
  beginPersonFactor,
  confirmPersonFactor,
  personFactorNeed,
  renewPersonRecovery,
  usePersonCode,
} from './person-factor.ts';
export { newRecoveryCodes } from './recovery-codes.ts';
export { usedCode } from './totp-factor.ts';
export { newTotpSecret, provisioningUrlOf, qrPictureOf } from './totp-secret.ts';
