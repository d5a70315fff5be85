/** The keys in `secrets.key`, their replacement, and random tokens. */
export { KEY_FILE_NAME, findSecrets, loadSecrets } from './key-file.ts';
export { base32, randomEnrollmentCode, randomToken } from './random-token.ts';
export { SealingKeys, useSealingKey } from './sealing-keys.ts';
export { MASK } from './secret-mask.ts';
export type { Secrets } from './secrets.ts';
