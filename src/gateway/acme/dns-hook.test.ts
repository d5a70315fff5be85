import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { until } from '../../../test/support/deadline.ts';
import { callDnsHook, type DnsHookCall } from './dns-hook.ts';

const folder = mkdtempSync(join(tmpdir(), 'dns-hook-'));
after(() => rmSync(folder, { recursive: true }));

/** Calls a shell script with this text. */
function call(script: string, more: Partial<DnsHookCall> = {}): Promise<void> {
  const program = join(folder, 'hook');
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  const words = { action: 'present', fqdn: '_acme-challenge.zone.example.', value: '-v $(x)' } as const;
  return callDnsHook({ program, ...words, ...more });
}

describe('the DNS hook', () => {
  it('gets the action, the name and the value as they are, and no shell reads them', async () => {
    const words = join(folder, 'words');
    await call(`printf '%s\\n' "$@" > ${words}`);
    assert.deepEqual(readFileSync(words, 'utf8').split('\n'), [
      'present',
      '_acme-challenge.zone.example.',
      '-v $(x)',
      '',
    ]);
  });

  it('that fails is reported with its status and the end of its output', async () => {
    await assert.rejects(
      call('yes "some words" | dd count=200 2>/dev/null; echo "no such zone" >&2; exit 3'),
      {
        code: 'dns-hook-failed',
        message:
          /failed to present _acme-challenge\.zone\.example\.: it ended with status 3; .{1,460}no such zone$/,
      },
    );
  });

  it('that cannot be run is reported', async () => {
    const program = join(folder, 'missing');
    await assert.rejects(call('', { program }), { code: 'dns-hook-failed', message: /ENOENT/ });
  });

  it('that takes too long is killed, with the programs that it started', async () => {
    const pids = join(folder, 'pids');
    const late = call(`sleep 600 & echo $! $$ > ${pids}; wait`, { timeoutMs: 1_000 });
    await assert.rejects(late, { code: 'dns-hook-failed', message: /did not end within 1 s/ });
    await until(
      'both are gone',
      () => readFileSync(pids, 'utf8').trim().split(' ').map(Number).filter(isAlive),
      (alive) => alive.length === 0,
    );
  });

  it('ends when the gateway stops', async () => {
    const stopping = new AbortController();
    const running = call('sleep 600', { signal: stopping.signal });
    stopping.abort();
    await assert.rejects(running, { message: /the gateway stops/ });
  });

  it('is over when the program ends, also when one that it left behind keeps its output open', async () => {
    await call('sleep 5 & exit 0');
  });
});

/** Whether the process runs; one that nobody has waited for yet does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
