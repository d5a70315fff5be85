// `ziti fabric` as administrators use it at our control plane: inspections, and traces of our router and of OpenZiti's.
// ZITI_BIN names the binary (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../support/deadline.ts';
import { runZiti, zitiBinary } from '../../support/ziti-command.ts';
import { startZitiLines, type ZitiLines } from '../../support/ziti-lines.ts';
import { openZitiEdgeWorld, type ZitiEdgeWorld } from './ziti-edge-world.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;

let world: ZitiEdgeWorld;
let traces: ZitiLines | undefined;
before(async () => {
  if (skip === false) world = await openZitiEdgeWorld(BINARY);
});
after(async () => {
  await traces?.stop();
  await world?.close();
});

async function fabric(...args: string[]): Promise<string> {
  const { status, output } = await runZiti(BINARY, world.folder, ['fabric', ...args]);
  assert.equal(status, 0, `ziti fabric ${args.join(' ')}: ${output}`);
  return output;
}

async function ownRouter(): Promise<{ readonly id: string; readonly name: string }> {
  const { data } = JSON.parse(await world.edge('list', 'edge-routers', '-j')) as {
    data: { id: string; name: string }[];
  };
  return data[0]!;
}

test('ziti fabric inspect shows what our control plane and our router know', { skip }, async () => {
  const { id, name } = await ownRouter();
  const inspect = (...args: string[]): Promise<string> => fabric('inspect', ...args);
  const connected = await inspect('connected-routers', '--format', 'json');
  assert.match(connected, new RegExp(`"Id": "${id}"`));
  assert.match(connected, new RegExp(`"Name": "${name}"`));
  assert.match(await inspect('links', name), new RegExp(`${id}\\.links\\n(.*\\n)*destinations:`));
  for (const value of [
    'router-controllers',
    'config',
    'metrics',
    'router-circuits',
    'sdk-terminators',
    'ert-terminators',
    'router-sdk-circuits',
    'router-data-model-index',
  ])
    assert.match(await inspect(value, id), new RegExp(`^Results: \\(1\\)\\n.*${id}\\.${value}`), value);
  for (const value of [
    'terminator-costs',
    'router-messaging',
    'data-model-index',
    'identity-connection-statuses',
  ])
    assert.match(await inspect(value), new RegExp(`\\.${value}`), value);
  const stacks = await inspect('stackdump');
  assert.match(stacks, /^Results: \(2\)/);
  assert.match(stacks, /waits for these resources:\n/);
  assert.match(
    await inspect('identity-connection-statuses', id),
    /identity_connections:\n(.*\n)*last_full_sync: "?20/,
  );
  assert.match(await inspect('nobody', 'links'), /^Results: \(0\)/);
  assert.match(await inspect('(a+)+', 'links'), /Encountered errors: \(1\)\n.*repeated groups/);
});

test(
  'ziti fabric stream traces shows control channels at both ends, until they are toggled off',
  { skip },
  async () => {
    const { id } = await ownRouter();
    traces = startZitiLines(BINARY, world.folder, ['fabric', 'stream', 'traces']);
    const toggle = (...args: string[]): Promise<string> =>
      fabric('stream', 'traces', 'toggle', 'pipe', ...args);
    const answer = await toggle('on');
    assert.match(answer, /tracing enabled successfully/);
    assert.match(answer, new RegExp(`Link ${id}\\.ctrl matched\\? true.*New trace state: true`));
    assert.match(answer, new RegExp(`Link \\S+\\.${id} matched\\? true`), 'our end of the same channel');
    const { lines } = traces;
    const seen = (pattern: RegExp) =>
      until(String(pattern), () => lines.some((line) => pattern.test(line)), Boolean);
    const ask = async (): Promise<void> => void (await fabric('inspect', 'links', id));
    await ask();
    await seen(new RegExp(`${id} +ctrl +<- .*ctrl +InspectRequest .*requestedValues=`));
    await seen(new RegExp(`${id} +ctrl +-> .*ctrl +InspectResponse`));
    await seen(new RegExp(`\\S+ +${id} +-> .*ctrl +InspectRequest`));
    assert.match(
      await toggle('off', `^${id}$`),
      new RegExp(`Link ${id}\\.ctrl matched\\? true.*New trace state: false`),
    );
    await toggle('off');
    await traces.stop();
    assert.match(await toggle('on', '(a+)+'), /tracing enable failed \[Failed to parse app id regex/);
  },
);
