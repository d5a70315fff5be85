/** Secrets of the control plane: the key file, HMACs, seals and tags, random tokens, and the mask. */
export { findSecrets, KEY_FILE_NAME, loadSecrets } from './key-file.ts';
export { base32, randomEnrollmentCode, randomToken } from './random-token.ts';
export { MASK } from './secret-mask.ts';
export type { Secrets } from './secrets.ts';
