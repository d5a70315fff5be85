/**
 * `frontdoor fabric router|gateway create NAME -o FILE`: makes the record and writes the enrollment token that the
 * new machine enrolls with, readable by its owner alone; also list and delete.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { FrontdoorError, messageOf } from '#base';
import { addApiOptions, type ApiFlags } from './access/api-options.ts';
import { runCommand, writeJson, type CliIo } from './cli-io.ts';
import type { ManagementClient } from './management-client.ts';
import { entriesOf, pagesOf, type Entry } from './operations/list-pages.ts';
import { cellText } from './output/cell-text.ts';

export interface FabricCommandOptions {
  readonly io: CliIo;
}

export function fabricCommand(options: FabricCommandOptions): Command {
  const fabric = new Command('fabric').description('routers and gateways of the overlay');
  fabric.addCommand(kindCommand(options, 'router', '/fabric/routers'));
  fabric.addCommand(kindCommand(options, 'gateway', '/fabric/gateways'));
  return fabric;
}

function kindCommand({ io }: FabricCommandOptions, kind: 'router' | 'gateway', path: string): Command {
  const command = new Command(kind).description(`${kind}s of the overlay`);
  const add = (name: string, help: string): Command =>
    addApiOptions(command.command(name)).addHelpText('after', `\n${help}, needs the scope frontdoor.admin\n`);
  const run = (flags: ApiFlags, work: (client: ManagementClient) => Promise<void>): Promise<void> =>
    runCommand(io, flags.json === true, async () => {
      const { withManagement } = await import('./access/access.ts');
      await withManagement(flags, io, work);
    });
  add('create', `POST {base_url}${path}`)
    .argument('<name>', `name of the ${kind}`)
    .description(`make a ${kind} and write its one-time enrollment token`)
    .requiredOption('-o, --out <file>', 'where the token goes (mode 0600); must not exist')
    .action((name: string, flags: ApiFlags & { out: string }) =>
      run(flags, (client) => {
        const json = flags.json === true;
        return create({ client, path, kind, name, out: flags.out, json, io });
      }),
    );
  add('list', `GET {base_url}${path}`)
    .description(`all ${kind}s`)
    .action((flags: ApiFlags) =>
      run(flags, async (client) => {
        const ask = async (page: number, size: number) =>
          entriesOf(await client.call({ method: 'GET', path: `${path}?page=${page}&size=${size}` }));
        const list: Entry[] = [];
        for await (const entries of pagesOf(ask, Number.POSITIVE_INFINITY)) list.push(...entries);
        if (flags.json === true) writeJson(io, list);
        else for (const { id, name } of list) io.out(`${cellText(id)}  ${cellText(name)}\n`);
      }),
    );
  add('delete', `DELETE {base_url}${path}/{id}`)
    .argument('<id>', `id of the ${kind}`)
    .description(`remove a ${kind}: its certificates count no more`)
    .action((id: string, flags: ApiFlags) =>
      run(flags, async (client) => {
        await client.call({ method: 'DELETE', path: `${path}/${encodeURIComponent(id)}` });
        if (flags.json === true) writeJson(io, { id });
        else io.out(`deleted ${kind} ${id}\n`);
      }),
    );
  return command;
}

interface Creation {
  readonly client: ManagementClient;
  readonly path: string;
  readonly kind: 'router' | 'gateway';
  readonly name: string;
  readonly out: string;
  readonly json: boolean;
  readonly io: CliIo;
}

async function create({ client, path, kind, name, out, json, io }: Creation): Promise<void> {
  // Before the record is made: a token that cannot be written is lost.
  try {
    writeFileSync(out, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new FrontdoorError('invalid', 'out-file', `cannot write ${out}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  try {
    const made = (await client.call({ method: 'POST', path, body: { name } })) as {
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
