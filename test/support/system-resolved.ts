/**
 * systemd-resolved in a network namespace, with a D-Bus of its own and without systemd. FRONTDOOR_TEST_RESOLVED names the
 * folder into which Debian's package `systemd-resolved` was unpacked (`dpkg -x`); without it, the installed one is used.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { until } from './deadline.ts';
import { namespaceSkip, type NetworkNamespace } from './network-namespace.ts';

const ROOT = process.env['FRONTDOOR_TEST_RESOLVED'] ?? '/';
const RESOLVED = join(ROOT, 'lib/systemd/systemd-resolved');
const RESOLVECTL = join(ROOT, 'usr/bin/resolvectl');
/** Where a router finds programs of the machine. */
const PROGRAMS = '/usr/local/bin';
const ID = 996;
const BUS = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=/run/dbus/system_bus_socket</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
    <allow user="*"/>
  </policy>
</busconfig>
`;

/** Why tests with systemd-resolved are skipped, or false. */
export function resolvedSkip(...programs: readonly string[]): string | false {
  for (const path of [RESOLVED, RESOLVECTL])
    if (!existsSync(path))
      return `systemd-resolved: FRONTDOOR_TEST_RESOLVED is not set, and there is no ${path}`;
  return namespaceSkip('dbus-daemon', ...programs);
}

/** Programs of the namespace ask it from then on. `servers`: what it asks itself, as in `resolved.conf`. */
export async function startResolved(
  t: Pick<TestContext, 'after'>,
  machine: NetworkNamespace,
  servers: string,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-resolved-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const children: ChildProcess[] = [];
  const output: string[] = [];
  t.after(async () => {
    for (const child of children.toReversed()) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true });
  });
  await machine.run('mount', '-t', 'tmpfs', 'tmpfs', '/run');
  const settings = `[Resolve]\nDNS=${servers}\nFallbackDNS=\nDomains=~.\nLLMNR=no\nMulticastDNS=no\nDNSSEC=no\n`;
  await machine.run('mkdir', '-p', '/run/dbus', '/run/systemd/resolved.conf.d');
  await machine.run('cp', file('test.conf', settings), '/run/systemd/resolved.conf.d/');
  await bind(file('resolv.conf', 'nameserver 127.0.0.53\n'), '/etc/resolv.conf');
  // It gives up its rights for those of this user.
  const users = readFileSync('/etc/passwd', 'utf8');
  if (!/^systemd-resolve:/m.test(users)) {
    await bind(file('passwd', `${users}systemd-resolve:x:${ID}:${ID}::/:/usr/sbin/nologin\n`), '/etc/passwd');
    const groups = readFileSync('/etc/group', 'utf8');
    await bind(file('group', `${groups}systemd-resolve:x:${ID}:\n`), '/etc/group');
  }
  mkdirSync(join(folder, 'bin'));
  symlinkSync(RESOLVECTL, join(folder, 'bin/resolvectl'));
  await bind(join(folder, 'bin'), PROGRAMS);
  const bus = file('bus.conf', BUS);
  children.push(machine.start('dbus-daemon', [`--config-file=${bus}`, '--nofork', '--nopidfile'], output));
  await until('D-Bus', () => succeeds('test', '-S', '/run/dbus/system_bus_socket'), Boolean);
  children.push(machine.start(RESOLVED, [], output));
  await until('systemd-resolved', () => succeeds(RESOLVECTL, 'status'), Boolean).catch((error: unknown) => {
    throw new Error(output.join(''), { cause: error });
  });

  async function bind(from: string, to: string): Promise<void> {
    await machine.run('mount', '--bind', from, to);
  }
  function succeeds(program: string, ...args: readonly string[]): Promise<boolean> {
    return machine.run(program, ...args).then(
      () => true,
      () => false,
    );
  }
}
