/** `frontdoor agents enroll --out FILE`: writes the code into a file that only its owner can read, and does not print it. */
import type { Command } from 'commander';
import { FrontdoorError } from '#base';
import { writeJson, type CliIo } from '../cli-io.ts';
import type { ManagementClient } from '../management-client.ts';
import { ifNeededOption, reasonAgainstCode } from './needed-creation.ts';
import type { OperationRequest } from './operation-request.ts';
import { withNewFiles, writeSecretFile } from './secret-file.ts';

export interface CodeFileFlags {
  readonly out?: string;
  readonly ifNeeded?: boolean;
  readonly json?: boolean;
}

export function addCodeFileOptions(command: Command): void {
  command
    .option(
      '--out <file>',
      'file to write the code to (mode 0600), which must not exist, instead of printing it; for example enrollment-code',
    )
    .addOption(ifNeededOption('an environment'));
}

/** Returns whether the flags ask for a file. */
export async function enrollIntoFile(
  { out: file, ifNeeded = false, json = false }: CodeFileFlags,
  { client, request, io }: { client: ManagementClient; request: OperationRequest; io: CliIo },
): Promise<boolean> {
  const { name } = (request.body ?? {}) as { readonly name?: unknown };
  if (ifNeeded && (file === undefined || typeof name !== 'string'))
    throw new FrontdoorError('invalid', 'out-file', '--if-needed needs --name and --out FILE');
  if (file === undefined) return false;
  const reason = ifNeeded
    ? await reasonAgainstCode(client, { path: request.path, name: String(name) }, file)
    : undefined;
  if (reason !== undefined) {
    if (json) writeJson(io, { name, file, created: false });
    else io.out(`${reason}\n`);
    return true;
  }
  await withNewFiles([file], async () => {
    const made = (await client.call(request)) as { enrollmentCode?: unknown; expiresAt?: unknown };
    if (typeof made?.enrollmentCode !== 'string')
      throw new FrontdoorError('badGateway', 'answer', 'the Management API sent no enrollment code');
    writeSecretFile(file, made.enrollmentCode);
    if (json) writeJson(io, { name: name ?? null, file, created: true, expiresAt: made.expiresAt });
    else io.out(`the enrollment code is in ${file}, and valid until ${String(made.expiresAt)}\n`);
  });
  return true;
}
