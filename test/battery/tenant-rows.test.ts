// A19 and A20 in their quick form: names after their end, and wrong credentials, between two tenants.
import { describe } from 'node:test';
import { RESTING_NAME_ROW } from './resting-name-row.ts';
import { testRows } from './row-suite.ts';
import { WRONG_CREDENTIAL_ROW } from './wrong-credential-row.ts';

describe('between tenants', () => {
  testRows([RESTING_NAME_ROW, WRONG_CREDENTIAL_ROW]);
});
