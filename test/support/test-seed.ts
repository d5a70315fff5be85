/**
 * The seed of all random draws in tests. The same one in every run, so that a run judges a change and not its
 * luck; FRONTDOOR_TEST_SEED gives another, or a new one each time: `random`. `npm run fuzz` searches for new
 * failures.
 */
import { randomInt } from 'node:crypto';

const DEFAULT_SEED = 20_261_122;

const given = process.env['FRONTDOOR_TEST_SEED'];

export const TEST_SEED = given === 'random' ? randomInt(2 ** 31) : Number(given ?? DEFAULT_SEED);
if (!Number.isSafeInteger(TEST_SEED)) throw new Error('FRONTDOOR_TEST_SEED is a whole number, or "random"');
