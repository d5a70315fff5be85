/** Secrets of the control plane: the key file, HMACs, seals and tags, random tokens, and the mask. */
export { addNextKey, findSecrets, keepOnlyKey, KEY_FILE_NAME, loadKeyRing, loadSecrets } from './key-file.ts';
export { base32, randomEnrollmentCode, randomToken } from './random-token.ts';
export { MASK } from './secret-mask.ts';
export type { Secrets } from './secrets.ts';
