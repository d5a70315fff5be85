/** What stands in place of a secret wherever it is shown again. Sent back, it keeps the secret that is stored. */
export const MASK = '********';
