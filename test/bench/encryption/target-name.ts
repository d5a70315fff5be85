/** Names of the measured ways in results: `private share, encrypted`. */
export type Way = 'public' | 'private';
export type Secrecy = 'encrypted' | 'in clear';

export const targetName = (way: Way, secrecy: Secrecy): string => `${way} share, ${secrecy}`;
