/** What the product's fronts are called in tables: the shape, then what is asked of a client. */
export const UP = 'up';
export const UP_KEY = 'up, API key';
export const UP_SESSION = 'up, session';
export const SEPARATE = 'separate';
export const SEPARATE_KEY = 'separate, API key';
export const ONE_WORKER = 'one worker';
export const TWO_WORKERS = 'two workers';
