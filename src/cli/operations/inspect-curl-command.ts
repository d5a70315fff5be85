/** `frontdoor shares inspect curl TOKEN ID`: prints a recorded request as a command for `curl`, and sends nothing. */
import { Command } from 'commander';
import { curlCommand } from '#contract';
import type { InspectedRequestAnswer, ShareAnswer } from '#contract/schemas';
import { REDACTED } from '#domain/gateway-shapes';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import { isText } from '../output/inspected-text.ts';

const SHARE = '/frontdoor/{frontdoorId}/shares/{token}';
const HELP = `
GET {base_url}${SHARE}/inspector/requests/{id}, requires the scope frontdoor.read

Values that were left out, because they may be secrets, are … in the command; so is the name of a file for a body that is no text.

Examples:
  frontdoor shares inspect curl app 5b0c2a3e6f0f4a5e9d
`;

export function inspectCurlCommand(io: CliIo): Command {
  const command = new Command('curl')
    .argument('<token>', 'the share, for example app')
    .argument('<id>', 'ID of a recorded request')
    .description('print a recorded request as a curl command')
    .addOption(frontdoorOption());
  addApiOptions(command).addHelpText('after', HELP);
  return command.action(async (token: string, id: string) => {
    const flags = command.opts<ApiFlags>();
    await runCommand(io, flags.json === true, () => print(io, flags, token, id));
  });
}

async function print(io: CliIo, flags: ApiFlags, token: string, id: string): Promise<void> {
  const [{ withManagement }, { frontdoorOf }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const frontdoorId = await frontdoorOf({ client, access });
    const path = SHARE.replace('{frontdoorId}', frontdoorId).replace('{token}', encodeURIComponent(token));
    const read = (at: string) => client.call({ method: 'GET', path: at });
    const exchange = (await read(
      `${path}/inspector/requests/${encodeURIComponent(id)}`,
    )) as InspectedRequestAnswer;
    const { frontendEndpoints } = (await read(path)) as ShareAnswer;
    const curl = curlOf(exchange, frontendEndpoints);
    if (flags.json === true) writeJson(io, { curl });
    else io.out(`${curl}\n`);
  });
}

function curlOf(exchange: InspectedRequestAnswer, addresses: readonly string[]): string {
  const { method, host, target, request } = exchange;
  const { headers, bodyBytes } = request;
  const bytes = Buffer.from(request.body ?? '', 'base64');
  const isSent = request.bodyIsWhole && isText(bytes);
  const body = bodyBytes === 0 ? undefined : isSent ? { text: bytes.toString() } : 'binary';
  return curlCommand({ method, host, target, headers, body }, addresses, REDACTED);
}
