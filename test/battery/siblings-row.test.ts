// A18 in its quick form: a browser at two tenants' shares.
import { describe } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { testRows } from './row-suite.ts';
import { SIBLINGS_ROW } from './siblings-row.ts';

describe('siblings in a browser', { skip: browserSkip }, () => {
  testRows([SIBLINGS_ROW]);
});
