/** A fault of a mesh as a test: judged by a run that nothing but the fault disturbed. */
import assert from 'node:assert/strict';
import type { FaultMesh } from '../../support/fault-mesh.ts';
import { undisturbed } from '../../support/undisturbed.ts';
import type { FaultOutcome } from './fault-row.ts';

const SETTLE_MS = 60_000;

/** Rejects when something is wrong, or lost. */
export async function assertGood(mesh: FaultMesh, run: () => Promise<FaultOutcome>): Promise<void> {
  const isGood = ({ good, of, problems }: FaultOutcome): boolean => problems.length === 0 && good === of;
  const restore = async (): Promise<void> => {
    await mesh.untilAllOnline();
    await mesh.untilLinked();
    await mesh.untilNoCircuits(SETTLE_MS);
  };
  const { good, of, problems } = await undisturbed({ run, isGood, restore });
  assert.deepEqual(problems, []);
  assert.equal(good, of);
}
