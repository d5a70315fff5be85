// Rows of load and bounded memory in their quick form, over one running product.
import { describe } from 'node:test';
import { HANDSHAKE_ROW } from './handshake-row.ts';
import { SLOW_PEER_ROW } from './slow-peer-row.ts';
import { SOAK_ROW } from './soak-row.ts';
import { testRows } from './row-suite.ts';
import { UNPROVEN_ROW } from './unproven-row.ts';

describe('under load', () => {
  testRows([SLOW_PEER_ROW, SOAK_ROW, HANDSHAKE_ROW, UNPROVEN_ROW]);
});
