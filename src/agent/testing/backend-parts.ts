/** What backends are made with, for tests. */
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { silentLog } from '#base';
import type { ShareUpstreamChange } from '#domain/upstream';
import type { Backend, BackendParts } from '../backends/backend.ts';
import { backendOf } from '../backends/backend-of-mode.ts';
import { DatagramDialer } from '../backends/datagram-target.ts';
import { TargetResolver } from '../backends/target-resolver.ts';
import { parseTarget } from '../target-address.ts';

const TIMES = { checkTimeoutMs: 3_000, closeTimeoutMs: 4_000 };

export function backendParts(changes: Partial<BackendParts> = {}): BackendParts {
  return {
    resolver: new TargetResolver(),
    datagrams: new DatagramDialer(),
    allowTargets: [],
    allowFolders: [],
    dataDir: tmpdir(),
    log: silentLog,
    times: TIMES,
    ...changes,
  };
}

/** Serves a target that the operator of the agent chose, or with `isOwn: false` one that the API set. */
export function backendFor(
  target: string,
  changes: Partial<BackendParts> = {},
  isOwn = true,
  upstream: ShareUpstreamChange = {},
): Backend {
  const parsed = parseTarget(target);
  assert.ok('target' in parsed, target);
  const backend = backendOf(parsed.target, isOwn, backendParts(changes), upstream);
  assert.ok(!('problem' in backend), target);
  return backend;
}
