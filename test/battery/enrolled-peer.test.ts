// L10 in its quick form.
import { describe } from 'node:test';
import { ENROLLED_PEER_ROW } from './enrolled-peer-row.ts';
import { testRows } from './row-suite.ts';

describe('an enrolled identity that wants memory', () => {
  testRows([ENROLLED_PEER_ROW]);
});
