import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kibPerConnection } from './idle-connections.ts';

const MIB = 1024 * 1024;

test('an idle connection costs what the process grew by, and nothing where it shrank', () => {
  const idle = { connections: 2_000, beforeBytes: 200 * MIB, heldBytes: 225 * MIB };
  assert.equal(kibPerConnection(idle), 12.8);
  assert.equal(kibPerConnection({ ...idle, heldBytes: 190 * MIB }), 0);
});
