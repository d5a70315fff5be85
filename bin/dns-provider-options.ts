/** How TXT records of challenges are created and removed, as the command line asks for it: a DNS provider or a program. ADR 0095. */
import { access, constants, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import process from 'node:process';
import { FrontdoorError, messageOf } from '#base';
import type { DnsCommandOptions } from '#cli';
import { openDnsProvider, type DnsSettings } from '#gateway';
import { outwardDialerOf } from '#net';
import { areDnsServers } from '#net/names';

type Choice = DnsSettings['by'];

/** Undefined without a provider or program. Rejects with `acme-options`, also for a file or variable with a secret. */
export async function dnsSettingsOf(options: DnsCommandOptions): Promise<DnsSettings | undefined> {
  const { acmeDnsHook: hook, acmeDnsProvider: provider, acmeDnsServer, acmeDnsSetting } = options;
  if (hook !== undefined && provider !== undefined)
    throw refused('--acme-dns-provider and --acme-dns-hook exclude each other: give one of them');
  if (acmeDnsSetting !== undefined && provider === undefined)
    throw refused('--acme-dns-setting needs --acme-dns-provider');
  if (acmeDnsServer !== undefined && hook === undefined && provider === undefined)
    throw refused('--acme-dns-server needs --acme-dns-provider or --acme-dns-hook');
  const servers = serversOf(acmeDnsServer ?? []);
  if (hook !== undefined) return { by: { hook: await programOf(hook) }, servers };
  if (provider === undefined) return undefined;
  const by: Choice = { provider, settings: settingsOf(acmeDnsSetting ?? []) };
  // Each order opens it again. A mistake is reported now, and not by the first order.
  const surroundings = { folder: '.', environment: process.env, outward: outwardDialerOf(process.env) };
  await (await openDnsProvider(by, surroundings)).close();
  return { by, servers };
}

/** A path that is not absolute is one of the folder in which the command was started. */
function settingsOf(texts: readonly string[]): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const text of texts) {
    const [, name, value] = /^([a-z0-9-]+)=(.+)$/.exec(text) ?? [];
    // The text may be a secret, and is not repeated.
    if (name === undefined || value === undefined)
      throw refused('--acme-dns-setting takes NAME=VALUE, such as server=ns1.example.com');
    if (Object.hasOwn(settings, name)) throw refused(`--acme-dns-setting ${name} is given twice`);
    settings[name] = name.endsWith('-file') ? resolve(value) : value;
  }
  return settings;
}

function serversOf(servers: readonly string[]): readonly string[] {
  if (areDnsServers(servers)) return servers;
  throw refused('--acme-dns-server takes addresses, such as 192.0.2.53 or [2001:db8::53]:53');
}

/** Absolute path of a program. It is not searched for, so that it is the same one at each start. */
async function programOf(path: string): Promise<string> {
  const program = resolve(path);
  try {
    if (!(await stat(program)).isFile()) throw new Error('it is not a file');
    await access(program, constants.X_OK);
  } catch (cause) {
    throw refused(`--acme-dns-hook: ${program} cannot be run: ${messageOf(cause)}`);
  }
  return program;
}

function refused(message: string): FrontdoorError {
  return new FrontdoorError('invalid', 'acme-options', message);
}
