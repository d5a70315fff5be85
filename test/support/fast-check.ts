/** fast-check with the seed of all tests. */
import fc from 'fast-check';
import { TEST_SEED } from './test-seed.ts';

fc.configureGlobal({ seed: TEST_SEED });

export { fc };
