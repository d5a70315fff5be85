/** Replaces a secret wherever it is shown. Sent back, it keeps the stored secret. */
export const MASK = '********';
