// The data model of a router at two control planes over one PostgreSQL, all of them processes: changes come from whichever
// of them it is subscribed to, in the order in which they were made, and the model never goes backward.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { until } from '../support/deadline.ts';
import { FabricMesh, type JsonRow, type MeshRouter } from '../support/fabric-mesh.ts';
import { postgresSkip } from '../support/postgres.ts';
import { ReplicatedMesh, type Replica } from '../support/replicated-mesh.ts';

/** Changes of each step, made at both control planes in turn. */
const CHANGES = 6;
const KILLS = 2;
const NAME = /^change-(\d+)$/;

interface Seen {
  /** Numbers of the identities that the model has. */
  readonly numbers: readonly number[];
  readonly timeline: string;
  readonly index: number;
  readonly source: string;
}

describe('the data model of a router at two control planes', { skip: postgresSkip }, () => {
  let mesh: ReplicatedMesh;
  let a: Replica;
  let b: Replica;
  let router: MeshRouter;
  let made = 0;
  let last: Seen | undefined;
  /** Faults of all reads are kept, because a read that fails is repeated. */
  const faults: string[] = [];

  before(async () => {
    mesh = await ReplicatedMesh.start();
    a = await mesh.replica('a');
    b = await mesh.replica('b');
    router = await mesh.router(a, 'edge', { edgePort: await FabricMesh.freePort() });
    await mesh.untilRemembered(router, [a, b]);
    for (const at of [a, b]) await mesh.untilMeshed(at, 0);
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) console.error(mesh?.output);
  });
  after(() => mesh?.stop());

  const other = (replica: Replica): Replica => (replica === a ? b : a);
  const idOf = ({ name }: Replica): string =>
    readFileSync(join(mesh.folder, name, 'controller-id'), 'utf8').trim();

  /** Each change is a new identity. */
  async function change(at: Replica): Promise<void> {
    const name = `change-${made + 1}`;
    await mesh.run(at, 'fabric', 'gateway', 'create', name, '--out', join(mesh.folder, `${name}.jwt`));
    made += 1;
  }

  /** Reads the model of the router, and compares it with the one that was read before. */
  async function look(at: Replica): Promise<Seen> {
    const names = ['router-data-model', 'router-data-model-index'];
    const text = await mesh.run(at, 'fabric', 'inspect', ...names, '--router', router.id, '--json');
    const { values } = JSON.parse(text) as { values: JsonRow[] };
    const valueOf = (name: string): JsonRow => {
      const value = values.find((row) => row['name'] === name)?.['value'];
      return (typeof value === 'string' ? JSON.parse(value) : value) as JsonRow;
    };
    const identities = Object.values(valueOf('router-data-model')['identity'] as Record<string, JsonRow>);
    const numbers = identities
      .map(({ name }) => Number(NAME.exec(String(name))?.[1] ?? 0))
      .filter((number) => number > 0)
      .sort((one, two) => one - two);
    const about = valueOf('router-data-model-index');
    const seen = {
      numbers,
      timeline: String(about['timeline']),
      index: Number(about['index']),
      source: String(about['source']),
    };
    if (numbers.some((number, index) => number !== index + 1))
      faults.push(`a change is missing before a later one: ${numbers.join()}`);
    if (last !== undefined && numbers.length < last.numbers.length)
      faults.push(`${numbers.length} changes after ${last.numbers.length}`);
    if (seen.timeline === last?.timeline && seen.index < last.index)
      faults.push(`index ${seen.index} after ${last.index} in one timeline`);
    last = seen;
    return seen;
  }

  const untilAll = async (at: Replica): Promise<Seen> =>
    (
      await until(
        `${made} changes`,
        () => look(at),
        ({ numbers }) => numbers.length === made,
        30_000,
      )
    ).value;

  test('changes at either of them reach it in order', async () => {
    for (let index = 0; index < CHANGES; index += 1) await change(index % 2 === 0 ? a : b);
    const { source, timeline } = await untilAll(a);
    assert.ok([a, b].map(idOf).includes(source), source);
    await change(a);
    await change(b);
    const next = await untilAll(b);
    assert.deepEqual([next.source, next.timeline], [source, timeline], 'one subscription, one timeline');
    assert.deepEqual(faults, []);
  });

  test('when the one that it is subscribed to is killed right after a change, the other sends a state that has it', async () => {
    for (let round = 0; round < KILLS; round += 1) {
      const { source, timeline } = await untilAll(a);
      const dead = idOf(a) === source ? a : b;
      const alive = other(dead);
      await change(alive);
      await change(dead);
      await dead.kill();
      const turned = await until(
        'the other timeline',
        () => look(alive),
        (seen) => seen.timeline !== timeline,
        30_000,
      );
      assert.equal(turned.value.source, idOf(alive));
      await change(alive);
      await untilAll(alive);
      await dead.start();
      await mesh.untilMeshed(dead, 0);
      await change(dead);
      await untilAll(dead);
    }
    assert.deepEqual(faults, []);
  });
});
