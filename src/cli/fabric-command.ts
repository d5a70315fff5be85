/**
 * `frontdoor fabric router|gateway create NAME -o FILE`: makes the record and writes the enrollment token that the
 * new machine enrolls with, readable by its owner alone; also list and delete.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { FrontdoorError, messageOf } from '#base';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';
import { callManagement, type ManagementAccess } from './management-client.ts';

export interface FabricCommandOptions {
  readonly io: CliIo;
  readonly defaultApiUrl: string;
}

interface AccessFlags {
  readonly api?: string;
  readonly account?: string;
  readonly token?: string;
  readonly ca?: string;
  readonly json?: boolean;
}

export function fabricCommand(options: FabricCommandOptions): Command {
  const fabric = new Command('fabric').description('routers and gateways of the overlay');
  fabric.addCommand(kindCommand(options, 'router', '/fabric/routers'));
  fabric.addCommand(kindCommand(options, 'gateway', '/fabric/gateways'));
  return fabric;
}

function kindCommand(options: FabricCommandOptions, kind: 'router' | 'gateway', path: string): Command {
  const { io } = options;
  const command = new Command(kind).description(`${kind}s of the overlay`);
  command.addCommand(
    accessOptions(new Command('create').argument('<name>', `name of the ${kind}`), options)
      .description(`make a ${kind} and write its one-time enrollment token`)
      .requiredOption('-o, --out <file>', 'where the token goes (mode 0600); must not exist')
      .action(async (name: string, flags: AccessFlags & { out: string }) => {
        await runCommand(io, flags.json === true, async () => {
          await create({
            access: accessOf(flags, options),
            path,
            kind,
            name,
            out: flags.out,
            json: flags.json === true,
            io,
          });
        });
      }),
  );
  command.addCommand(
    accessOptions(new Command('list'), options)
      .description(`all ${kind}s`)
      .action(async (flags: AccessFlags) => {
        await runCommand(io, flags.json === true, async () => {
          const found = await callManagement(accessOf(flags, options), { method: 'GET', path });
          const list = (
            Array.isArray(found) ? found : ((found as { content?: unknown } | undefined)?.content ?? [])
          ) as { id: string; name: string }[];
          if (flags.json === true) writeJson(io, list);
          else for (const { id, name } of list) io.out(`${id}  ${name}\n`);
        });
      }),
  );
  command.addCommand(
    accessOptions(new Command('delete').argument('<id>', `id of the ${kind}`), options)
      .description(`remove a ${kind}: its certificates count no more`)
      .action(async (id: string, flags: AccessFlags) => {
        await runCommand(io, flags.json === true, async () => {
          await callManagement(accessOf(flags, options), {
            method: 'DELETE',
            path: `${path}/${encodeURIComponent(id)}`,
          });
          if (flags.json === true) writeJson(io, { id });
          else io.out(`deleted ${kind} ${id}\n`);
        });
      }),
  );
  return command;
}

interface Creation {
  readonly access: ManagementAccess;
  readonly path: string;
  readonly kind: 'router' | 'gateway';
  readonly name: string;
  readonly out: string;
  readonly json: boolean;
  readonly io: CliIo;
}

async function create({ access, path, kind, name, out, json, io }: Creation): Promise<void> {
  // Before the record is made: a token that cannot be written is lost.
  try {
    writeFileSync(out, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new FrontdoorError('invalid', 'out-file', `cannot write ${out}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  try {
    const made = (await callManagement(access, { method: 'POST', path, body: { name } })) as {
      id?: unknown;
      token?: unknown;
    };
    if (typeof made?.token !== 'string' || typeof made.id !== 'string') {
      throw new FrontdoorError('badGateway', 'answer', 'the Management API sent no enrollment token');
    }
    writeFileSync(out, `${made.token}\n`, { mode: 0o600 });
    if (json) writeJson(io, { id: made.id, name, file: out });
    else io.out(`${kind} ${name} (${made.id}); its enrollment token is in ${out}\n`);
  } catch (error) {
    rmSync(out, { force: true });
    throw error;
  }
}

function accessOptions(command: Command, { defaultApiUrl }: FabricCommandOptions): Command {
  return command
    .option('--api <url>', `Management API (or FRONTDOOR_API_URL), default ${defaultApiUrl}`)
    .option('--account <id>', 'API account (or FRONTDOOR_ACCOUNT_ID)')
    .option(
      '--token <token>',
      'API token (better in FRONTDOOR_API_TOKEN: arguments can be seen by other users)',
    )
    .option('--ca <file>', "CA certificates (PEM) for the Management API, default the system's")
    .option('--json', 'print JSON');
}

function accessOf(flags: AccessFlags, { io, defaultApiUrl }: FabricCommandOptions): ManagementAccess {
  const accountId = flags.account ?? io.env.FRONTDOOR_ACCOUNT_ID;
  const apiToken = flags.token ?? io.env.FRONTDOOR_API_TOKEN;
  if (accountId === undefined || apiToken === undefined) {
    throw new FrontdoorError(
      'unauthenticated',
      'no-credentials',
      'an API account is needed: --account ID and --token TOKEN, or FRONTDOOR_ACCOUNT_ID and FRONTDOOR_API_TOKEN',
    );
  }
  const apiUrl = flags.api ?? io.env.FRONTDOOR_API_URL ?? defaultApiUrl;
  return {
    apiUrl,
    accountId,
    apiToken,
    ...(flags.ca === undefined ? {} : { ca: readFileSync(flags.ca, 'utf8') }),
  };
}
