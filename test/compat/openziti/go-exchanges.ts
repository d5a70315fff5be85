/**
 * What each pair of ends has to carry: one long stream with half-close, short connections in turn, and many at once.
 * Every byte comes back, and is compared by SHA-256. `FRONTDOOR_INTEROP_LONG=1` takes the long form.
 */
import assert from 'node:assert/strict';
import type { GoPeer } from './go-peer.ts';

const MB = 1_000_000;
const IS_LONG = process.env['FRONTDOOR_INTEROP_LONG'] === '1';

const LOADS = IS_LONG
  ? {
      'one long stream': { connections: 1, atOnce: 1, bytes: 100 * MB },
      'short connections': { connections: 1_000, atOnce: 4, bytes: 100 },
      'many at once': { connections: 50, atOnce: 50, bytes: MB },
    }
  : {
      'one long stream': { connections: 1, atOnce: 1, bytes: 8 * MB },
      'short connections': { connections: 60, atOnce: 4, bytes: 100 },
      'many at once': { connections: 20, atOnce: 20, bytes: 100_000 },
    };

export async function checkGoExchanges(peer: GoPeer, identityFile: string, service: string): Promise<void> {
  for (const [name, load] of Object.entries(LOADS)) {
    const { whole, errors, ms } = await peer.dial(identityFile, service, load);
    assert.deepEqual({ name, whole, errors }, { name, whole: load.connections, errors: [] });
    console.error(`${name}: ${load.connections} connections of ${load.bytes} bytes each way in ${ms} ms`);
  }
}
