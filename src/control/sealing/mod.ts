/** The replacement of the key in `secrets.key`. */
export { SealingKeys, useSealingKey, type SealingState } from './sealing-keys.ts';
