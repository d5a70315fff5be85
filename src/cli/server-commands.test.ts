import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptIo } from './cli-fixture.ts';
import { serverCommands, type ServerRunners, type UpCommandOptions } from './server-commands.ts';

test('up knows which ports are on the command line, also where they are the defaults', async () => {
  let options: UpCommandOptions | undefined;
  const up = async (given: UpCommandOptions): Promise<void> => void (options = given);
  const runners = { up } as unknown as ServerRunners;
  const command = serverCommands(keptIo(), runners).find((each) => each.name() === 'up')!;
  await command.parseAsync(['--any-port', '--https-port', '8443', '--api-port', '0'], { from: 'user' });
  assert.deepEqual(options?.givenPorts, { httpsPort: 8_443, apiPort: 0 });
});
