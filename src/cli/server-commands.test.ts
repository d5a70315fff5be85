import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptIo } from './cli-fixture.ts';
import {
  serverCommands,
  type GatewayCommandOptions,
  type ServerRunners,
  type UpCommandOptions,
} from './server-commands.ts';

test('up knows which ports are on the command line, also where they are the defaults', async () => {
  let options: UpCommandOptions | undefined;
  const up = async (given: UpCommandOptions): Promise<void> => void (options = given);
  const runners = { up } as unknown as ServerRunners;
  const command = serverCommands(keptIo(), runners).find((each) => each.name() === 'up')!;
  await command.parseAsync(['--any-port', '--https-port', '8443', '--api-port', '0'], { from: 'user' });
  assert.deepEqual(options?.givenPorts, { httpsPort: 8_443, apiPort: 0 });
});

test('a gateway takes the size of heads within its bounds', async () => {
  let options: GatewayCommandOptions | undefined;
  const io = keptIo();
  const gateway = async (given: GatewayCommandOptions): Promise<void> => void (options = given);
  const runners = { gateway } as unknown as ServerRunners;
  const parse = async (args: readonly string[]): Promise<void> => {
    const command = serverCommands(io, runners).find((each) => each.name() === 'gateway')!;
    await command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(args, { from: 'user' });
  };
  await parse(['--max-header-bytes', '131072', '--max-header-fields', '50']);
  assert.deepEqual([options?.maxHeaderBytes, options?.maxHeaderFields], [131_072, 50]);
  for (const wrong of [
    ['--max-header-bytes', '8191'],
    ['--max-header-bytes', '131073'],
    ['--max-header-bytes', '64k'],
    ['--max-header-fields', '49'],
    ['--max-header-fields', '401'],
  ])
    await assert.rejects(parse(wrong), /must be a whole number from/);
});
